"""The DeviceReader of real GPUs."""

import threading
from dataclasses import dataclass, field, replace

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types
import structlog

from gputide.clock import Clock
from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import Device, Reading
from gputide.exporter.nvml.describe import describe, device_facts, driver_facts
from gputide.exporter.nvml.device import DeviceSession
from gputide.exporter.nvml.driver import (
    Handle,
    Session,
    driver_error,
    is_driver_error,
    raise_if_fatal,
    reason,
)
from gputide.exporter.nvml.events import XidEvents
from gputide.exporter.ports import DeviceError, DeviceLostError, DriverError

log = structlog.stdlib.get_logger()
_UNKNOWN = "unknown-"


@dataclass(slots=True)
class _Started:
    """What belongs to one start of NVML, and is void after it."""

    generation: int
    events: XidEvents
    facts: dict[Fact, str]
    sessions: dict[str, DeviceSession] = field(default_factory=dict)
    device_facts: dict[str, dict[Fact, str]] = field(default_factory=dict)


class NvmlReader:
    """Reads the node's GPUs through NVML; `read` may run in a thread for each GPU."""

    def __init__(self, clock: Clock, *, has_pcie_throughput: bool = False) -> None:
        self._clock = clock
        self._has_pcie_throughput = has_pcie_throughput
        self._session = Session()
        self._closed = threading.Event()
        self._started: _Started | None = None
        self._seen: dict[int, Device] = {}
        self._is_doubtful = False
        """Whether a reading met an error of the driver as a whole."""

    def devices(self) -> tuple[Device, ...]:
        """Enumerate; raise DriverError where there is no driver.

        A GPU off the bus stays in the list as long as the driver counts it, as it was before.
        """
        if self._is_doubtful:
            self._restart()
        started = self._ensure_started()
        try:
            count = pynvml.nvmlDeviceGetCount()
        except pynvml.NVMLError as error:
            if is_driver_error(error):
                self._restart()
            raise driver_error(error) from error
        found = (self._device(index, started) for index in range(count))
        return tuple(device for device in found if device is not None)

    def read(self, device: Device) -> Reading:
        """Read everything of one GPU."""
        with self._session.using():
            started = self._started
            if started is None:
                raise DriverError("the driver is being started anew")
            if device.uuid.startswith(_UNKNOWN):
                raise DeviceLostError(f"GPU {device.index}: off the bus since before we looked")
            try:
                reading = self._read(device, started)
            except DriverError:
                self._is_doubtful = True
                raise
            return _with_xid(reading, device.uuid, started.events)

    def next_xid(self, *, timeout_seconds: float) -> tuple[str, int] | None:
        """Wait for an XID event; return (uuid, code), or None at the time-out."""
        with self._session.using():
            started = self._started
            if started is not None:
                return started.events.next(timeout_seconds=timeout_seconds)
        self._closed.wait(timeout_seconds)
        return None

    def close(self) -> None:
        """Let go of the driver."""
        self._closed.set()
        started, self._started = self._started, None
        if started is not None:
            for session in started.sessions.values():
                session.close()
            started.events.close()
        self._session.close()

    def _ensure_started(self) -> _Started:
        generation = self._session.ensure()
        if self._started is None or self._started.generation != generation:
            events = XidEvents(self._closed.wait)
            self._started = _Started(generation, events, driver_facts())
        return self._started

    def _restart(self) -> None:
        """Let go of the driver, so that it is started anew; handles of before are void."""
        self._is_doubtful = False
        self._started = None
        self._session.close()

    def _device(self, index: int, started: _Started) -> Device | None:
        try:
            handle = pynvml.nvmlDeviceGetHandleByIndex(index)
            device = self._describe(index, handle, started)
        except pynvml.NVMLError as error:
            known = self._seen.get(index)
            if known is None:
                log.warning("a GPU cannot be identified", gpu=index, problem=reason(error))
            return known or _unknown(index, error)
        self._seen[index] = device
        return device

    def _describe(self, index: int, handle: Handle, started: _Started) -> Device:
        device = describe(index, handle, started.facts)
        if device.uuid not in started.device_facts:
            started.device_facts[device.uuid] = device_facts(handle)
        started.events.register(device.uuid, handle)
        return replace(device, facts={**started.facts, **started.device_facts[device.uuid]})

    def _read(self, device: Device, started: _Started) -> Reading:
        at_seconds, now_seconds = self._clock.now_seconds(), self._clock.monotonic_seconds()
        try:
            session = started.sessions.get(device.uuid) or self._open(device, started, now_seconds)
            return session.read(device, at_seconds=at_seconds, now_seconds=now_seconds)
        except pynvml.NVMLError as error:
            raise_if_fatal(error, f"GPU {device.index}")
            raise DeviceError(f"GPU {device.index}: {reason(error)}") from error

    def _open(self, device: Device, started: _Started, now_seconds: float) -> DeviceSession:
        session = DeviceSession(
            device,
            pynvml.nvmlDeviceGetHandleByUUID(device.uuid),
            now_seconds=now_seconds,
            has_pcie_throughput=self._has_pcie_throughput,
        )
        started.sessions[device.uuid] = session
        return session


def _with_xid(reading: Reading, uuid: str, events: XidEvents) -> Reading:
    refusal = events.refusals.get(uuid)
    if refusal is not None:
        return replace(reading, unsupported={**reading.unsupported, Field.XID_LAST: refusal})
    return replace(reading, values={**reading.values, Field.XID_LAST: events.last(uuid)})


def _unknown(index: int, error: pynvml.NVMLError) -> Device | None:
    """Return a stand-in for a GPU that was lost before anybody knew it: its state shows."""
    if error.value != pynvml.NVML_ERROR_GPU_IS_LOST:
        return None
    return Device(
        index=index,
        uuid=f"{_UNKNOWN}{index}",
        pci_bus_id="",
        minor_number=index,
        model_name="unknown",
        memory_bytes=0,
    )
