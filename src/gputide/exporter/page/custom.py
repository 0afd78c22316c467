"""DCGM_CUSTOM_*: what is really a container's or a process', and how the node allocates."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from gputide.exporter.catalog import MetricRow, ProcessRow, Unit, custom, is_number
from gputide.exporter.fields import Fact
from gputide.exporter.model import (
    AllocateMode,
    Container,
    Device,
    DeviceStatus,
    ProcessReading,
    Snapshot,
)
from gputide.exporter.options import PageOptions
from gputide.exporter.page.allocation import (
    Allocations,
    Claim,
    DeviceKey,
    Mode,
    Share,
    allocated_ratio,
)
from gputide.exporter.page.labels import LabelCache, LabelText, label_text, node_labels
from gputide.exporter.page.model import Block, Budget, Cut
from gputide.exposition import Kind, Labels

_NOBODY = Container(namespace="", pod="", container="")


@dataclass(frozen=True, slots=True)
class _Use:
    """A process on a GPU, by which right, and its labels."""

    process: ProcessReading
    claim: Claim
    text: str


class CustomBlocks:
    """Makes the blocks of DCGM_CUSTOM_*; keeps label texts between pages."""

    def __init__(self, options: PageOptions) -> None:
        self._options = options
        self._cache = LabelCache[LabelText]()

    def blocks(self, snapshot: Snapshot, allocations: Allocations, budget: Budget) -> list[Block]:
        """Return the blocks of node, GPUs, containers and processes, in that order.

        A GPU that is not up keeps its memory size and its containers: they are known without it.
        """
        node = node_labels(snapshot.node_name, self._options)
        mode = snapshot.ownership.mode
        is_known = mode is not AllocateMode.NONE or allocations.is_complete
        text = self._text(("node",), node, budget)
        lines = [f"{custom.ALLOCATE_MODE.name}{text}{int(mode)}\n"] if is_known else []
        found = [_block(custom.ALLOCATE_MODE, budget.take(lines))]
        found += self._device_blocks(snapshot.devices, node, allocations, budget)
        found += self._container_blocks(snapshot.devices, node, allocations, budget)
        found += self._process_blocks(snapshot.devices, node, allocations, budget)
        self._cache.turn()
        return [block for block in found if block.line_count]

    def _device_blocks(
        self,
        devices: Iterable[DeviceStatus],
        node: Labels,
        allocations: Allocations,
        budget: Budget,
    ) -> Iterator[Block]:
        totals: list[str] = []
        ratios: list[str] = []
        for device in (status.device for status in devices):
            text = self._text(("device", device.uuid), _device_labels(device, node), budget)
            totals += _line(custom.DEVICE_MEMORY_TOTAL, text, device.memory_bytes)
            ratio = allocated_ratio(device, allocations)
            ratios += _line(custom.DEVICE_MEMORY_ALLOCATED, text, ratio)
        yield _block(custom.DEVICE_MEMORY_TOTAL, budget.take(totals))
        yield _block(custom.DEVICE_MEMORY_ALLOCATED, budget.take(ratios))

    def _container_blocks(
        self,
        devices: Iterable[DeviceStatus],
        node: Labels,
        allocations: Allocations,
        budget: Budget,
    ) -> Iterator[Block]:
        memory: list[str] = []
        compute: list[str] = []
        by_uuid = {status.device.uuid: status.device for status in devices}
        for key, shares in allocations.shares.items():
            device = by_uuid.get(key[0])
            for share in shares if device is not None else ():
                owner = share.owner
                labels = _holder_labels(share, device, node) if device else ()
                cache_key = ("container", key, owner.namespace, owner.pod, owner.container)
                text = self._text(cache_key, labels, budget)
                memory += _line(custom.CONTAINER_MEMORY_ALLOCATED, text, share.memory_bytes)
                compute += _line(custom.CONTAINER_COMPUTE_ALLOCATED, text, share.compute_ratio)
        yield _block(custom.CONTAINER_MEMORY_ALLOCATED, budget.take(memory))
        yield _block(custom.CONTAINER_COMPUTE_ALLOCATED, budget.take(compute))

    def _process_blocks(
        self,
        devices: Iterable[DeviceStatus],
        node: Labels,
        allocations: Allocations,
        budget: Budget,
    ) -> Iterator[Block]:
        running = [
            (status.device, process)
            for status in devices
            if status.reading is not None
            for process in status.reading.processes
        ]
        limit = self._options.max_processes
        if len(running) > limit:
            budget.cut(Cut.PROCESSES, len(running) - limit)
            running.sort(key=lambda pair: (-(pair[1].memory_bytes or 0), pair[1].pid))
            del running[limit:]
        every = (self._use(each, process, node, allocations, budget) for each, process in running)
        uses = list({use.text: use for use in every}.values())  # a driver may list a process twice
        for row in custom.PROCESSES:
            yield _process_block(row, row.name, [u for u in uses if not u.claim.is_illegal], budget)
        for row in custom.PROCESSES:
            illegal = [use for use in uses if use.claim.is_illegal]
            yield _process_block(row, row.illegal_name, illegal, budget)

    def _use(
        self,
        device: Device,
        process: ProcessReading,
        node: Labels,
        allocations: Allocations,
        budget: Budget,
    ) -> _Use:
        key = (device.uuid, process.gpu_instance_id)
        claim = allocations.claim(key, process)
        labels = _process_labels(claim, process, _card_labels(device, key, node))
        text = self._text(("process", key, process.pid, process.is_compute), labels, budget)
        return _Use(process, claim, text)

    def _text(self, key: tuple[object, ...], labels: Labels, budget: Budget) -> str:
        text = self._cache.find(key, labels)
        if text is None:
            text = self._cache.keep(key, labels, label_text(labels, 0, self._options))
        budget.cut(Cut.LABEL_VALUES, text.shortened_values)
        return text.text


def _device_labels(device: Device, node: Labels) -> Labels:
    driver = device.facts.get(Fact.DRIVER_VERSION, "")
    card = _card_labels(device, (device.uuid, None), node)
    return tuple(sorted((("DriverVersion", driver), ("SupportDCGM", "Yes"), *card)))


def _card_labels(device: Device, key: DeviceKey, node: Labels) -> Labels:
    labels = [
        *node,
        ("UUID", device.uuid),
        ("device", f"nvidia{device.minor_number}"),
        ("gpu", str(device.index)),
        ("modelName", device.model_name),
    ]
    profiles = {each.gpu_instance_id: each.profile for each in device.mig_instances}
    if key[1] is not None:  # beyond the vendor's labels: it does not know MIG
        labels.append(("GPU_I_ID", str(key[1])))
        labels.append(("GPU_I_PROFILE", profiles.get(key[1], "")))
    return tuple(labels)


def _holder_labels(share: Share, device: Device, node: Labels) -> Labels:
    return _sorted(_card_labels(device, share.key, node), _pod(share.mode, share.owner))


def _process_labels(claim: Claim, process: ProcessReading, card: Labels) -> Labels:
    mine = {
        "ProcessId": str(process.pid),
        "ProcessName": process.name,
        "ProcessType": "C" if process.is_compute else "G",
    }
    return _sorted(card, _pod(claim.mode, claim.owner or _NOBODY) | mine)


def _pod(mode: Mode, owner: Container) -> dict[str, str]:
    return {
        "AllocateMode": mode.value,
        "ContainerName": owner.container,
        "NamespaceName": owner.namespace,
        "PodName": owner.pod,
    }


def _sorted(card: Labels, more: Mapping[str, str]) -> Labels:
    return tuple(sorted((*card, *more.items())))


def _line(row: MetricRow, text: str, value: float | None) -> list[str]:
    unit: Unit = custom.UNITS[row.name]
    if not is_number(value):
        return []
    return [f"{row.name}{text}{unit.text(value)}\n"]


def _block(row: MetricRow, lines: list[str]) -> Block:
    return Block.of(row.name, row.kind, row.help, lines)


def _process_block(row: ProcessRow, name: str, uses: list[_Use], budget: Budget) -> Block:
    values = [(use.text, row.source(use.process)) for use in uses]
    lines = [f"{name}{text}{row.unit.text(value)}\n" for text, value in values if is_number(value)]
    return Block.of(name, Kind.GAUGE, row.help, budget.take(lines))
