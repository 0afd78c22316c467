"""What a page of the exporter costs, beside prometheus_client on the same data in the same run.

    python bench/exporter.py [--json FILE]

Pages of 4,800 and 53,760 series: 60 fields of 80 and of 896 GPUs, each held by a pod. Every value
changes before every render. `serve` is what a scrape costs: the body is ready, and the serving
process' own metrics are put behind it. Memory is the most that a render holds at once.
"""

import argparse
import gzip
import json
import platform
import tracemalloc
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from math import isnan, nan
from pathlib import Path
from statistics import median
from time import perf_counter, process_time

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector

from gputide.exporter.catalog import own
from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import (
    AllocateMode,
    Allocation,
    Container,
    Device,
    DeviceState,
    DeviceStatus,
    Ownership,
    Reading,
    Snapshot,
)
from gputide.exporter.options import PageOptions
from gputide.exporter.page.model import Page, tail
from gputide.exporter.render import Renderer
from gputide.exporter.selection import ChosenField, Selection, full_selection
from gputide.exposition import Family, Sample

FIELD_COUNT = 60
SIZES = (4_800, 53_760)
GOALS_MS = {4_800: 3.0, 53_760: 40.0}
LABELS = (
    "gpu UUID pci_bus_id device modelName Hostname DCGM_FI_DRIVER_VERSION container namespace pod"
)
SERVING = tuple(
    Family(row.name, row.kind, row.help, (Sample(row.name, (), 1.25),)) for row in own.FROM_PROCESS
)


@dataclass(frozen=True, slots=True)
class Row:
    """One measurement."""

    series: int
    what: str
    milliseconds: float
    cpu_milliseconds: float
    megabytes: float | None = None
    goal_milliseconds: float | None = None


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", type=Path, help="write the figures there, too")
    parser.add_argument("--runs", type=int, default=9)
    arguments = parser.parse_args()
    rows = [row for size in SIZES for row in measure(size, runs=arguments.runs)]
    print(f"Python {platform.python_version()}, {platform.machine()}, median of {arguments.runs}")
    print(f"{'series':>7}  {'what':<34} {'ms':>9} {'CPU ms':>9} {'MB':>7} {'goal ms':>8}")
    for row in rows:
        times = [row.milliseconds, row.cpu_milliseconds]
        wall, cpu = ["" if isnan(each) else f"{each:.3f}" for each in times]
        size = "" if row.megabytes is None else f"{row.megabytes:.2f}"
        goal = "" if row.goal_milliseconds is None else f"{row.goal_milliseconds:g}"
        print(f"{row.series:>7}  {row.what:<34} {wall:>9} {cpu:>9} {size:>7} {goal:>8}")
    if arguments.json:
        arguments.json.write_text(json.dumps([asdict(row) for row in rows], indent=2))


def measure(series: int, *, runs: int) -> Iterator[Row]:
    """Yield the figures of one size."""
    selection = selected()
    node = Node(series // FIELD_COUNT, selection)
    options = PageOptions(has_custom=False, max_series=series)
    renderer = Renderer(selection, options)

    def render() -> Page:
        return renderer.render(node.snapshot)

    def render_bytes() -> bytes:
        return render().encode()

    page = render()
    assert page.series_count == series
    body = page.body()
    text = page.encode()
    registry = CollectorRegistry()
    registry.register(Opponent(node, selection))

    def generate() -> bytes:
        return generate_latest(registry)

    assert sample_lines(generate()) == series
    goal = GOALS_MS.get(series)
    ready = measure_time(lambda: body + tail(SERVING), runs)
    yield Row(series, "serve, body ready", *ready, goal_milliseconds=goal)
    anew = measure_time(render_bytes, runs, node.tick)
    yield Row(series, "render anew, to bytes", *anew, megabytes=len(text) / 1e6)
    cold = measure_time(lambda: Renderer(selection, options).render(node.snapshot).encode(), 3)
    yield Row(series, "render with nothing kept", *cold)
    yield Row(series, "gzip, level 1", *measure_time(lambda: gzip.compress(text, 1), 3))
    theirs = measure_time(lambda: generate_latest(registry), 3, node.tick)
    yield Row(series, "prometheus_client, to bytes", *theirs)
    for name, work in (("gputide", render_bytes), ("prometheus_client", generate)):
        yield Row(series, f"memory at most, {name}", nan, nan, peak_megabytes(work))


def selected() -> Selection:
    """Return 60 fields that come straight from a reading."""
    everything = full_selection()
    fields = [each for each in everything.fields if isinstance(each.row.source, Field)]
    return Selection(fields=tuple(fields[:FIELD_COUNT]), labels=everything.labels)


class Node:
    """A node whose values all change at every tick."""

    def __init__(self, device_count: int, selection: Selection) -> None:
        self._devices = [device(index) for index in range(device_count)]
        self._sources = [source_of(chosen) for chosen in selection.fields]
        self._ownership = Ownership(
            at_seconds=0,
            mode=AllocateMode.EXCLUSIVE,
            allocations=tuple(
                Allocation(owner=holder(each.index), device_uuid=each.uuid)
                for each in self._devices
            ),
        )
        self._round = 0
        self.tick()

    def tick(self) -> None:
        """Change every value."""
        self._round += 1
        statuses = tuple(self._status(each) for each in self._devices)
        self.snapshot = Snapshot(
            node_name="bench-node-1",
            at_seconds=float(self._round),
            devices=statuses,
            ownership=self._ownership,
        )

    def _status(self, one: Device) -> DeviceStatus:
        seed = self._round * 7919 + one.index * 104_729
        values = {
            source: float((seed + position * 611_953) % 1_000_003) / 997 * 10.0 ** (position % 7)
            for position, source in enumerate(self._sources)
        }
        reading = Reading(at_seconds=float(self._round), values=values, unsupported={})
        return DeviceStatus(device=one, state=DeviceState.UP, reading=reading)


def device(index: int) -> Device:
    """Return a GPU with labels as long as real ones."""
    return Device(
        index=index,
        uuid=f"GPU-0badcafe-1111-2222-3333-{index:012d}",
        pci_bus_id=f"00000000:{index % 256:02X}:{index // 256:02X}.0",
        minor_number=index,
        model_name="NVIDIA H100 80GB HBM3",
        memory_bytes=81_559 * 2**20,
        facts={Fact.DRIVER_VERSION: "535.183.01"},
    )


def holder(index: int) -> Container:
    """Return the container that holds a GPU."""
    return Container(namespace="machine-learning", pod=f"trainer-{index}-x7c4d", container="main")


def source_of(chosen: ChosenField) -> Field:
    """Return where a field's value comes from."""
    assert isinstance(chosen.row.source, Field)
    return chosen.row.source


class Opponent(Collector):
    """The same page by prometheus_client: a custom collector, as its documentation shows."""

    def __init__(self, node: Node, selection: Selection) -> None:
        self._node = node
        self._selection = selection

    def collect(self) -> Iterator[GaugeMetricFamily]:
        """Yield one family for each field."""
        names = LABELS.split()
        for chosen in self._selection.fields:
            family = GaugeMetricFamily(chosen.name, chosen.help, labels=names)
            for status in self._node.snapshot.devices:
                assert status.reading is not None
                value = status.reading.values[source_of(chosen)] * chosen.row.unit.factor
                family.add_metric(self._labels(status.device), value)
            yield family

    def _labels(self, one: Device) -> list[str]:
        owner = holder(one.index)
        return [
            str(one.index),
            one.uuid,
            one.pci_bus_id,
            f"nvidia{one.minor_number}",
            one.model_name,
            self._node.snapshot.node_name,
            one.facts[Fact.DRIVER_VERSION],
            owner.container,
            owner.namespace,
            owner.pod,
        ]


def measure_time(
    work: Callable[[], object], runs: int, before: Callable[[], None] | None = None
) -> tuple[float, float]:
    """Return the median milliseconds of `work`, on the clock and of CPU, without `before`."""
    taken, used = [], []
    for _ in range(runs):
        if before is not None:
            before()
        start, start_cpu = perf_counter(), process_time()
        work()
        taken.append(perf_counter() - start)
        used.append(process_time() - start_cpu)
    return median(taken) * 1e3, median(used) * 1e3


def peak_megabytes(work: Callable[[], object]) -> float:
    """Return the most memory that `work` holds at once."""
    tracemalloc.start()
    work()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / 1e6


def sample_lines(page: bytes) -> int:
    """Count the samples of a page."""
    return sum(not line.startswith(b"#") for line in page.splitlines())


if __name__ == "__main__":
    main()
