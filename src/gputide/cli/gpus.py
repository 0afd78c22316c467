"""`gputide gpus`: this node's GPUs, what runs on them and who holds them, for a person to read."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from gputide.cli.logs import configure_logs
from gputide.cli.node import Simulation, new_collector
from gputide.clock import SystemClock
from gputide.exporter.settings import KUBELET_SOCKET, ExporterSettings

if TYPE_CHECKING:
    from gputide.exporter.collect import Collector
    from gputide.exporter.model import Snapshot

SIMULATED = Group("Simulated GPUs", sort_key=2)
_INTERVAL_SECONDS = 1.0
_ROUNDS = 2
"""Readings of each GPU before the answer: utilization of processes needs two."""


def gpus(
    *,
    kubernetes: Annotated[bool, Parameter(name=["--kubernetes", "-k"])] = False,
    pod_resources_kubelet_socket: Path = KUBELET_SOCKET,
    simulation: Annotated[Simulation, Parameter(name="*", group=SIMULATED)] = Simulation(),
    json: bool = False,
) -> None:
    """Show this node's GPUs, the processes on them and the pods that hold them.

    Parameters
    ----------
    kubernetes
        Ask the kubelet which pods hold the GPUs.
    pod_resources_kubelet_socket
        The kubelet's pod-resources socket.
    simulation
        GPUs that are not there.
    json
        Print JSON for programs instead of tables.

    """
    configure_logs("text")
    settings = ExporterSettings(
        kubernetes=kubernetes, pod_resources_kubelet_socket=pod_resources_kubelet_socket
    )
    collector = new_collector(
        settings, simulation, SystemClock(), interval_seconds=_INTERVAL_SECONDS
    )
    snapshot = asyncio.run(_look(collector))
    if json:
        from gputide.exporter.overview import as_json

        print(as_json(snapshot))  # noqa: T201 what was asked for
        return
    from rich.console import Console

    from gputide.exporter.overview import print_overview

    print_overview(snapshot, Console())


async def _look(collector: "Collector") -> "Snapshot":
    collector.start()
    try:
        await collector.first_snapshot(rounds=_ROUNDS)
        return collector.snapshot()
    finally:
        collector.close()
