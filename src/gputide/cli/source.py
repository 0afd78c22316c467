"""Where the load of a command comes from: files, a Prometheus, an AHPA resource, or made here."""

import asyncio
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from cyclopts import Group, Parameter

from gputide.backtest.load.ahpa import AhpaLoad, read_ahpa
from gputide.backtest.load.ahpa_file import AhpaFile, read_ahpa_file
from gputide.backtest.load.csv import CsvOptions, read_traces
from gputide.backtest.load.generate import generated_traces
from gputide.backtest.load.prometheus import HistoryOptions, read_history
from gputide.backtest.model import Trace
from gputide.clock import Clock
from gputide.errors import SettingError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

SOURCE = Group("Load, from exactly one source", sort_key=1)
READING = Group("How to read it", sort_key=2)
SERVER = Group("Prometheus", sort_key=3)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where the load comes from: exactly one of csv, query, ahpa and generated."""

    csv: Annotated[tuple[str, ...], Parameter(consume_multiple=True, show_default=False)] = ()
    """Files of recorded load, .csv or .csv.gz; - is standard input."""

    query: str | None = None
    """PromQL whose value is the demand; goes with --prometheus."""

    ahpa: Path | None = None
    """YAML of an AdvancedHorizontalPodAutoscaler, whose workload and settings to take; goes with
    --prometheus, and with --query where its demand is yours to say."""

    generated: bool = False
    """The traces that gputide makes itself."""

    days: float = 28
    """Days of history to read from Prometheus."""

    until: str | None = None
    """Where to end it, as Unix or ISO 8601 time; now if not given."""

    def check(self, server: PrometheusSettings | None) -> None:
        """Raise SettingError unless exactly one source is given, and whole."""
        asking = "--ahpa" if self.ahpa is not None else "--query"
        given = {
            "--csv": bool(self.csv),
            asking: self.ahpa is not None or self.query is not None,
            "--generated": self.generated,
        }
        named = [name for name, is_given in given.items() if is_given]
        if not named and server is not None:
            raise SettingError("query", "missing: what to ask --prometheus for (or --ahpa)")
        if len(named) != 1:
            found = " and ".join(named) + " are" if named else "none is"
            raise SettingError(
                "load", f"give exactly one of --csv, --query, --ahpa, --generated; {found} given"
            )
        if named == [asking] and server is None:
            raise SettingError("prometheus", f"missing: the server that {asking} asks")
        if named != [asking] and server is not None:
            raise SettingError("prometheus", f"cannot go together with {named[0]}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Load:
    """What the source holds; `ahpa` says what its resource asks for beside the load."""

    traces: tuple[Trace, ...]
    ahpa: AhpaLoad | None = None


SourceOption = Annotated[Source, Parameter(name="*", group=SOURCE)]
ReadingOption = Annotated[CsvOptions, Parameter(name="*", group=READING)]
ServerOption = Annotated[PrometheusSettings | None, Parameter(name="*", group=SERVER)]


def read_load(
    source: Source, reading: CsvOptions, server: PrometheusSettings | None, clock: Clock
) -> Load:
    """Return the load of the one source that is given."""
    source.check(server)
    if source.generated:
        return Load(traces=generated_traces())
    if server is None:
        return Load(
            traces=tuple(trace for path in source.csv for trace in read_traces(path, reading))
        )
    options = HistoryOptions(
        days=source.days,
        until=source.until,
        sum=reading.sum,
        time_zone=reading.time_zone,
        unit=reading.unit,
        hold_seconds=reading.hold_seconds,
        saturated_at=reading.saturated_at,
    )
    file = None
    if source.ahpa is not None:  # before anything is asked: a mistake in it is nearer
        file = read_ahpa_file(source.ahpa, time_zone=reading.time_zone)
    return asyncio.run(_ask(server, source.query, file, options, clock))


async def _ask(
    server: PrometheusSettings,
    query: str | None,
    file: AhpaFile | None,
    options: HistoryOptions,
    clock: Clock,
) -> Load:
    now = clock.now_seconds()
    async with Prometheus(server, clock=clock) as prometheus:
        if file is not None:
            load = await read_ahpa(prometheus, file, options, query=query, now_seconds=now)
            return Load(traces=(load.trace,), ahpa=load)
        trace = await read_history(prometheus, query or "", options, now_seconds=now)
        return Load(traces=(trace,))
