"""A DeviceReader of GPUs that are not there."""

import hashlib
import threading
from collections.abc import Callable
from math import ceil

from gputide.clock import Clock
from gputide.exporter.fields import Fact
from gputide.exporter.model import Device, MigInstance, Reading
from gputide.exporter.ports import DeviceError, DeviceLostError
from gputide.exporter.simulated.faults import NO_FAULTS, Faults, FaultSwitch, GpuFaults
from gputide.exporter.simulated.load import Load, noise
from gputide.exporter.simulated.physics import (
    STEP_SECONDS,
    Instant,
    Totals,
    advance,
    ahead,
    instant,
    settled,
)
from gputide.exporter.simulated.profiles import SimulatedGpu, SimulatedNode
from gputide.exporter.simulated.tenants import Tenant, tenants_of
from gputide.exporter.simulated.values import (
    State,
    card_values,
    instance_values,
    processes,
    unsupported,
)

DRIVER_VERSION = "570.133.20"
CUDA_VERSION = "12.8"
_XID_POLL_SECONDS = 0.5
_HANG_POLL_SECONDS = 0.2


class SimulatedReader:
    """Reads the GPUs of a simulated node; values follow from node, load, seed and time alone."""

    def __init__(
        self,
        node: SimulatedNode,
        load: Load,
        clock: Clock,
        *,
        faults: Faults | None = None,
        seed: int = 0,
        wait: Callable[[float], object] | None = None,
    ) -> None:
        self._clock = clock
        self._faults = faults or FaultSwitch()
        self._closed = threading.Event()
        self._wait = wait or self._closed.wait
        start = clock.now_seconds()
        self._gpus = [
            _Gpu(index, gpu, tenants, load, seed=seed, start_seconds=start)
            for index, (gpu, tenants) in enumerate(zip(node.gpus, tenants_of(node), strict=True))
        ]
        self._last_xids = [0] * len(self._gpus)
        self._raised_xids = [0] * len(self._gpus)

    def devices(self) -> tuple[Device, ...]:
        """Return the GPUs that are there."""
        return tuple(gpu.device for gpu in self._gpus if not self._faults.of(gpu.index).gone)

    def read(self, device: Device) -> Reading:
        """Read one GPU, as well as its faults let it."""
        if device.index >= len(self._gpus):
            raise DeviceError(f"GPU {device.index}: no such simulated GPU")
        faults = self._behave(device.index)
        at_seconds = self._clock.now_seconds()
        state = self._gpus[device.index].state(at_seconds, faults, self._last_xids[device.index])
        return Reading(
            at_seconds=at_seconds,
            values=card_values(state),
            unsupported=unsupported(state.profile),
            mig_values={
                slot.gpu_instance_id: instance_values(state, slot) for slot in state.profile.mig
            },
            processes=processes(state),
        )

    def next_xid(self, *, timeout_seconds: float) -> tuple[str, int] | None:
        """Wait for an XID event; return (uuid, code), or None at the time-out."""
        for _ in range(max(ceil(timeout_seconds / _XID_POLL_SECONDS), 1)):
            for gpu in self._gpus:
                xid = self._faults.of(gpu.index).xid
                if xid == self._raised_xids[gpu.index]:
                    continue
                self._raised_xids[gpu.index] = xid
                if xid:
                    self._last_xids[gpu.index] = xid
                    return gpu.device.uuid, xid
            if timeout_seconds <= 0 or self._closed.is_set():
                return None
            self._wait(min(_XID_POLL_SECONDS, timeout_seconds))
        return None

    def close(self) -> None:
        """Let go of whoever waits."""
        self._closed.set()

    def _behave(self, index: int) -> GpuFaults:
        """Return the GPU's faults, having lived through those that take time."""
        faults = self._faults.of(index)
        while faults.hang and not self._closed.is_set():
            self._wait(_HANG_POLL_SECONDS)
            faults = self._faults.of(index)
        if faults.lost or faults.gone:
            raise DeviceLostError(f"GPU {index}: GPU is lost (simulated)")
        if faults.slow_seconds:
            self._wait(faults.slow_seconds)
        return faults


class _Gpu:
    """One simulated GPU: what it is, and its totals on the grid of time."""

    def __init__(
        self,
        index: int,
        gpu: SimulatedGpu,
        tenants: tuple[Tenant, ...],
        load: Load,
        *,
        seed: int,
        start_seconds: float,
    ) -> None:
        self.index = index
        self.device = _device(index, gpu, seed)
        self._profile = gpu.profile
        self._tenants = tenants
        self._load = load
        self._grid_seconds = start_seconds
        now = self._instant(start_seconds, NO_FAULTS)
        days_up = 1 + 9 * noise(seed, index)
        self._totals = Totals(
            temperature_celsius=settled(self._profile, now, NO_FAULTS),
            energy_joules=days_up * 86_400 * self._profile.idle_watts,
        )

    def state(self, at_seconds: float, faults: GpuFaults, last_xid: int) -> State:
        """Return the state at a time, never before the one asked for last."""
        while at_seconds - self._grid_seconds >= STEP_SECONDS:
            now = self._instant(self._grid_seconds, faults)
            self._totals = advance(self._profile, self._totals, now, faults)
            self._grid_seconds += STEP_SECONDS
        busy = self._busy(at_seconds)
        now = instant(self._profile, self._card_busy(busy), faults)
        rest = max(at_seconds - self._grid_seconds, 0.0)
        return State(
            profile=self._profile,
            now=now,
            totals=ahead(self._profile, self._totals, now, faults, rest),
            faults=faults,
            tenants=tuple(zip(self._tenants, busy, strict=True)),
            last_xid=last_xid,
        )

    def _instant(self, at_seconds: float, faults: GpuFaults) -> Instant:
        return instant(self._profile, self._card_busy(self._busy(at_seconds)), faults)

    def _busy(self, at_seconds: float) -> list[float]:
        """Return how busy each tenant is: of its MIG instance, else of the card."""
        is_whole = not self._profile.mig
        return [
            (tenant.compute_ratio if is_whole else 1)
            * min(max(self._load.busy_ratio(tenant.lane, at_seconds), 0.0), 1.0)
            for tenant in self._tenants
        ]

    def _card_busy(self, busy: list[float]) -> float:
        if not self._profile.mig:
            return min(sum(busy), 1.0)
        shares = zip(self._tenants, busy, strict=True)
        return min(sum(tenant.compute_ratio * each for tenant, each in shares), 1.0)


def _device(index: int, gpu: SimulatedGpu, seed: int) -> Device:
    profile = gpu.profile
    return Device(
        index=index,
        uuid=f"GPU-{_identifier(seed, index)}",
        pci_bus_id=f"00000000:{0x17 + 0x11 * index & 0xFF:02X}:00.0",
        minor_number=index,
        model_name=profile.model_name,
        memory_bytes=profile.memory_bytes,
        is_mig_enabled=bool(profile.mig),
        mig_instances=tuple(
            MigInstance(
                gpu_instance_id=slot.gpu_instance_id,
                uuid=f"MIG-{_identifier(seed, index, slot.gpu_instance_id)}",
                profile=slot.profile,
                memory_bytes=slot.memory_bytes,
            )
            for slot in profile.mig
        ),
        facts={
            Fact.DRIVER_VERSION: DRIVER_VERSION,
            Fact.NVML_VERSION: f"12.{DRIVER_VERSION}",
            Fact.CUDA_VERSION: CUDA_VERSION,
            Fact.BRAND: profile.brand,
            Fact.SERIAL: f"{1_560_000_000_000 + int(noise(seed, index, 1) * 1e9)}",
            Fact.VBIOS_VERSION: "96.00.74.00.01",
        },
    )


def _identifier(*keys: int) -> str:
    """Return a UUID that follows from the keys."""
    digits = hashlib.sha256(repr(("gputide", *keys)).encode()).hexdigest()
    return "-".join((digits[:8], digits[8:12], digits[12:16], digits[16:20], digits[20:32]))
