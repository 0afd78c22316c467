"""A node's GPUs as tables for a terminal, or as JSON."""

from collections.abc import Iterable

import msgspec
from rich.console import Console
from rich.table import Table
from rich.text import Text

from gputide.exporter.fields import Field
from gputide.exporter.model import Container, DeviceState, DeviceStatus, ProcessReading, Snapshot

UNKNOWN = "-"
MEBIBYTE = 2**20
_STYLES = {DeviceState.UP: "green"}


def print_overview(snapshot: Snapshot, console: Console) -> None:
    """Print GPUs, then who holds them, then processes, then what could not be asked."""
    title = f"{snapshot.node_name}: {len(snapshot.devices)} GPUs"
    console.print(Text(title, style="bold"))
    if snapshot.devices:
        console.print(_devices(snapshot.devices))
    if snapshot.ownership.allocations:
        console.print(_holders(snapshot))
    if any(_processes(snapshot)):
        console.print(_process_table(snapshot))
    ownership = snapshot.ownership
    for problem in (snapshot.problem, *ownership.problems, *ownership.detail_problems):
        if problem:
            console.print(Text(f"! {problem}"))


def as_json(snapshot: Snapshot) -> str:
    """Return the whole snapshot as JSON, in base units; what is unknown is absent or null."""
    return msgspec.json.format(msgspec.json.encode(snapshot, enc_hook=str), indent=2).decode()


def _table(title: str, left: Iterable[str], right: Iterable[str]) -> Table:
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for name in left:
        table.add_column(name, overflow="fold")
    for name in right:
        table.add_column(name, justify="right")
    return table


def _devices(devices: Iterable[DeviceStatus]) -> Table:
    table = _table("", ("GPU", "model", "state"), ("util", "memory MiB", "temp", "power"))
    for status in devices:
        device = status.device
        state = Text(status.state.value, style=_STYLES.get(status.state, "red"))
        if status.problem:
            state.append(f": {status.problem}")
        used = _mebibytes(_value(status, Field.MEMORY_USED_BYTES))
        table.add_row(
            str(device.index),
            Text(device.model_name),
            state,
            _percent(_value(status, Field.GPU_UTILIZATION_RATIO)),
            f"{used} / {_mebibytes(device.memory_bytes)}",
            _unit(_value(status, Field.TEMPERATURE_CELSIUS), "C"),
            _unit(_value(status, Field.POWER_WATTS), "W"),
        )
        for instance in device.mig_instances:
            values = {} if status.reading is None else status.reading.mig_values
            own = values.get(instance.gpu_instance_id, {})
            used = _mebibytes(own.get(Field.MEMORY_USED_BYTES))
            table.add_row(
                f"  {instance.gpu_instance_id}",
                Text(f"MIG {instance.profile}"),
                "",
                _percent(own.get(Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO)),
                f"{used} / {_mebibytes(instance.memory_bytes)}",
                "",
                "",
            )
    return table


def _holders(snapshot: Snapshot) -> Table:
    index = {status.device.uuid: status.device.index for status in snapshot.devices}
    table = _table("held by", ("GPU", "MIG", "pod", "container"), ("memory MiB", "compute"))
    for held in snapshot.ownership.allocations:
        table.add_row(
            str(index.get(held.device_uuid, UNKNOWN)),
            UNKNOWN if held.gpu_instance_id is None else str(held.gpu_instance_id),
            Text(_pod(held.owner)),
            Text(held.owner.container),
            _mebibytes(held.memory_bytes),
            _percent(held.compute_ratio) if held.compute_ratio else UNKNOWN,
        )
    return table


def _process_table(snapshot: Snapshot) -> Table:
    table = _table("processes", ("GPU", "pid", "name", "pod"), ("memory MiB", "SM"))
    for index, process in _processes(snapshot):
        owner = snapshot.ownership.process_owners.get(process.pid)
        table.add_row(
            str(index),
            str(process.pid),
            Text(process.name),
            UNKNOWN if owner is None else Text(_pod(owner)),
            _mebibytes(process.memory_bytes),
            _percent(process.sm_ratio),
        )
    return table


def _processes(snapshot: Snapshot) -> Iterable[tuple[int, ProcessReading]]:
    for status in snapshot.devices:
        if status.reading is not None:
            for process in status.reading.processes:
                yield status.device.index, process


def _value(status: DeviceStatus, field: Field) -> float | None:
    return None if status.reading is None else status.reading.values.get(field)


def _pod(owner: Container) -> str:
    return f"{owner.namespace}/{owner.pod}"


def _mebibytes(value: float | None) -> str:
    return UNKNOWN if value is None else f"{value / MEBIBYTE:,.0f}"


def _percent(ratio: float | None) -> str:
    return UNKNOWN if ratio is None else f"{ratio:.0%}"


def _unit(value: float | None, unit: str) -> str:
    return UNKNOWN if value is None else f"{value:.0f} {unit}"
