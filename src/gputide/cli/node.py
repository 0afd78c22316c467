"""Which GPUs a command looks at: this machine's, or simulated ones."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from gputide.clock import Clock
from gputide.errors import InputError, SettingError
from gputide.exporter.settings import ExporterSettings, split_lists

if TYPE_CHECKING:
    from gputide.exporter.collect import Collector
    from gputide.exporter.ports import DeviceReader, OwnershipSource

SIMULATED_NODE = "simulated-gpu-node"
_MAX_LOAD_BYTES = 64 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Simulation:
    """GPUs that are not there."""

    simulate: str | None = None
    """Simulate these GPUs instead of reading real ones: PROFILE[xN][:LAYOUT], several joined by
    commas, such as h100x8 or a10x2:shared,t4:idle."""

    simulate_load: str | None = None
    """How busy they are: a ratio, tide, tide:LOW-HIGH, file:PATH (CSV of offset_seconds,ratio), or
    processes:PID+PID,PID (as busy as these); tide if not given."""

    faults: Path | None = None
    """JSON file of faults by GPU, read again when it changes: {"3": {"lost": true}}."""

    def __post_init__(self) -> None:
        for name, given in (("simulate-load", self.simulate_load), ("faults", self.faults)):
            if given is not None and self.simulate is None:
                raise SettingError(name, "does nothing without --simulate")


def new_collector(
    settings: ExporterSettings, simulation: Simulation, clock: Clock, *, interval_seconds: float
) -> "Collector":
    """Return the collection of the node that is asked for; it does not run yet."""
    from gputide.exporter.collect import Collector
    from gputide.exporter.collection.settings import CollectionSettings

    reader, owners = (
        _real(settings, clock) if simulation.simulate is None else _simulated(simulation, clock)
    )
    return Collector(
        reader,
        owners,
        clock,
        node_name=_node_name(settings, simulation),
        settings=CollectionSettings(
            interval_seconds=interval_seconds,
            max_age_seconds=max(60.0, 3 * interval_seconds),
        ),
    )


def _simulated(simulation: Simulation, clock: Clock) -> "tuple[DeviceReader, OwnershipSource]":
    from gputide.exporter.simulated.faults import FaultFile
    from gputide.exporter.simulated.load import parse_load
    from gputide.exporter.simulated.owners import SimulatedOwners
    from gputide.exporter.simulated.process_time import ProcessTime
    from gputide.exporter.simulated.profiles import parse_simulation
    from gputide.exporter.simulated.reader import SimulatedReader

    node = parse_simulation(simulation.simulate or "")
    load = parse_load(
        simulation.simulate_load or "tide",
        read_text=_read_text,
        busy_time_of=ProcessTime,
        start_seconds=clock.now_seconds(),
    )
    faults = None if simulation.faults is None else FaultFile(simulation.faults)
    return SimulatedReader(node, load, clock, faults=faults), SimulatedOwners(node, clock)


def _real(settings: ExporterSettings, clock: Clock) -> "tuple[DeviceReader, OwnershipSource]":
    from gputide.exporter.nvml.reader import NvmlReader

    reader = NvmlReader(clock, has_pcie_throughput=settings.pcie_throughput)
    return reader, _owners(settings, clock)


def _owners(settings: ExporterSettings, clock: Clock) -> "OwnershipSource":
    if not settings.kubernetes:
        from gputide.exporter.nobody import Nobody

        return Nobody(clock)
    from gputide.exporter.owners.settings import OwnerSettings
    from gputide.exporter.owners.source import open_owners

    page = settings.page
    return open_owners(
        OwnerSettings(
            node_name=_node_name(settings, Simulation()),
            kubelet_socket=str(settings.pod_resources_kubelet_socket),
            resource_names=split_lists(settings.nvidia_resource_names),
            has_pod_labels=page.has_pod_labels,
            pod_label_patterns=page.pod_label_patterns,
        ),
        clock,
    )


def _node_name(settings: ExporterSettings, simulation: Simulation) -> str:
    if settings.node_name or simulation.simulate is not None:
        return settings.node_name or SIMULATED_NODE
    import socket

    return socket.gethostname()


def _read_text(name: str) -> str:
    try:
        with Path(name).open("rb") as file:
            return file.read(_MAX_LOAD_BYTES).decode()
    except OSError as error:
        raise InputError(name, f"cannot be read: {error.strerror}") from error
    except UnicodeDecodeError as error:
        raise InputError(name, "is not UTF-8") from error
