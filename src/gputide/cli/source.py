"""Where the load of a command comes from: files, a Prometheus, an AHPA resource, or made here."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from cyclopts import Group, Parameter

from gputide.backtest.csv import CsvOptions, read_traces
from gputide.backtest.generate import generated_traces
from gputide.backtest.model import Trace
from gputide.backtest.prometheus import HistoryOptions, read_history
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

    generated: bool = False
    """The traces that gputide makes itself."""

    days: float = 28
    """Days of history to read from Prometheus."""

    until: str | None = None
    """Where to end it, as Unix or ISO 8601 time; now if not given."""

    def check(self, server: PrometheusSettings | None) -> None:
        """Raise SettingError unless exactly one source is given, and whole."""
        given = {
            "--csv": bool(self.csv),
            "--query": self.query is not None,
            "--generated": self.generated,
        }
        named = [name for name, is_given in given.items() if is_given]
        if not named and server is not None:
            raise SettingError("query", "missing: what to ask --prometheus for")
        if len(named) != 1:
            found = " and ".join(named) + " are" if named else "none is"
            raise SettingError("load", f"give exactly one of {', '.join(given)}; {found} given")
        if self.query is not None and server is None:
            raise SettingError("prometheus", "missing: the server that --query asks")
        if self.query is None and server is not None:
            raise SettingError("prometheus", f"cannot go together with {named[0]}")


SourceOption = Annotated[Source, Parameter(name="*", group=SOURCE)]
ReadingOption = Annotated[CsvOptions, Parameter(name="*", group=READING)]
ServerOption = Annotated[PrometheusSettings | None, Parameter(name="*", group=SERVER)]


def read_load(
    source: Source, reading: CsvOptions, server: PrometheusSettings | None, clock: Clock
) -> Sequence[Trace]:
    """Return the traces of the one source that is given."""
    source.check(server)
    if source.generated:
        return generated_traces()
    if source.query is None or server is None:
        return [trace for path in source.csv for trace in read_traces(path, reading)]
    options = HistoryOptions(
        days=source.days,
        until=source.until,
        sum=reading.sum,
        time_zone=reading.time_zone,
        unit=reading.unit,
        hold_seconds=reading.hold_seconds,
    )
    return [asyncio.run(_ask(server, source.query, options, clock))]


async def _ask(
    server: PrometheusSettings, query: str, options: HistoryOptions, clock: Clock
) -> Trace:
    async with Prometheus(server, clock=clock) as prometheus:
        return await read_history(prometheus, query, options, now_seconds=clock.now_seconds())
