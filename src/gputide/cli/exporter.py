"""`gputide exporter`: this node's GPUs for Prometheus."""

import asyncio
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from gputide import __version__
from gputide.cli.logs import configure_logs
from gputide.cli.node import Simulation, new_collector
from gputide.cli.process import run_until_stopped
from gputide.clock import SystemClock
from gputide.errors import InputError
from gputide.exporter.dcgm_settings import IgnoredSettings, check_variables, ignored
from gputide.exporter.settings import BUILT_IN_LISTS, DCGM_FOLDER, ExporterSettings

if TYPE_CHECKING:
    from gputide.exporter.collect import Collector
    from gputide.exporter.run import Exporter, Serving
    from gputide.exporter.selection import Selection

EXPORTER = Group("Exporter, with dcgm-exporter's names where it has them", sort_key=1)
SIMULATED = Group("Simulated GPUs", sort_key=2)
_ONCE_INTERVAL_SECONDS = 1.0
_MAX_COLLECTORS_BYTES = 1024 * 1024


def exporter(
    settings: Annotated[ExporterSettings, Parameter(name="*", group=EXPORTER)] = ExporterSettings(),
    *,
    simulation: Annotated[Simulation, Parameter(name="*", group=SIMULATED)] = Simulation(),
    once: Annotated[bool, Parameter(group=EXPORTER, help="Print the page and end.")] = False,
    dcgm: Annotated[IgnoredSettings, Parameter(name="*")] = IgnoredSettings(),
) -> None:
    """Serve the metrics of this node's GPUs to Prometheus."""
    configure_logs(settings.log_format)
    check_variables(os.environ)
    _warn(dcgm)
    serving = _serving(settings)
    served, collector = _exporter(settings, simulation, serving, is_once=once)
    if once:
        from gputide.exporter.run import once as print_once

        sys.stdout.buffer.write(asyncio.run(print_once(served, collector)))
        return
    asyncio.run(_serve(served, collector, serving))


async def _serve(served: "Exporter", collector: "Collector", serving: "Serving") -> None:
    from gputide.exporter.run import run

    await run_until_stopped(run(served, collector, SystemClock(), serving))


def _serving(settings: ExporterSettings) -> "Serving":
    from gputide.exporter.http.server import parse_address
    from gputide.exporter.run import Serving

    web = None
    if settings.web_config_file is not None and str(settings.web_config_file) != ".":
        from gputide.exporter.http.web_file import WebFile

        web = WebFile(settings.web_config_file)
    return Serving(
        address=parse_address(settings.address),
        interval_seconds=settings.interval_seconds,
        web=web,
    )


def _exporter(
    settings: ExporterSettings, simulation: Simulation, serving: "Serving", *, is_once: bool
) -> "tuple[Exporter, Collector]":
    from gputide.exporter.render import Renderer
    from gputide.exporter.run import Exporter

    clock = SystemClock()
    # Printed once, the page waits for a second reading of each GPU.
    interval = _ONCE_INTERVAL_SECONDS if is_once else settings.interval_seconds
    renderer = Renderer(_selection(settings), settings.page)
    collector = new_collector(settings, simulation, clock, interval_seconds=interval)
    return Exporter(collector, renderer, clock, __version__, serving), collector


def _selection(settings: ExporterSettings) -> "Selection":
    from gputide.exporter.counters import read_counters
    from gputide.exporter.selection import default_selection

    path = settings.collectors
    if path is None or _is_in_dcgms_image(path):
        return default_selection()
    try:
        with path.open("rb") as file:
            text = file.read(_MAX_COLLECTORS_BYTES).decode()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(str(path), "is not UTF-8") from error
    return read_counters(text, source=str(path))


def _is_in_dcgms_image(path: Path) -> bool:
    """Return whether a file is one that comes with dcgm-exporter's image, and ours has built in."""
    if path.parent != DCGM_FOLDER or path.name not in BUILT_IN_LISTS or path.exists():
        return False
    import structlog

    structlog.get_logger().warning(
        "counters file not there, dcgm-exporter's default list is served", file=str(path)
    )
    return True


def _warn(dcgm: IgnoredSettings) -> None:
    """Say in one line which flags of dcgm-exporter have no effect here."""
    reasons = ignored(dcgm)
    if reasons:
        import structlog

        said = "; ".join(f"{name}: {reason}" for name, reason in reasons.items())
        structlog.get_logger().warning("flags of dcgm-exporter without effect", flags=said)
