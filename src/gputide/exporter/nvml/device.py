"""Reading one GPU: what is asked, in which order, and what is remembered between readings."""

from collections.abc import Callable, Iterable
from dataclasses import replace

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Field
from gputide.exporter.model import Device, MigInstance, ProcessReading, Reading
from gputide.exporter.nvml import batch, gpm, probes
from gputide.exporter.nvml.driver import Handle, raise_if_fatal
from gputide.exporter.nvml.processes import (
    MIN_WINDOW_SECONDS,
    Names,
    Use,
    list_processes,
    use_by_pid,
    with_use,
)
from gputide.exporter.nvml.support import Support
from gputide.exporter.ports import DeviceError
from gputide.exporter.reasons import NO_GPM, NOT_ASKED, ONE_SAMPLE

STEADY_SECONDS = 60.0
_MEMORY = (Field.MEMORY_TOTAL_BYTES, Field.MEMORY_USED_BYTES, Field.MEMORY_FREE_BYTES)
_RESERVED = (Field.MEMORY_RESERVED_BYTES,)
_OLD_MEMORY = "this driver counts it as used; 510 and newer tell it apart"
_THROUGHPUT = tuple(field for probe in probes.PCIE_THROUGHPUT for field in probe.fields)
_PROCESSES = (Field.COMPUTE_PROCESSES,)
_GPM_WHOLE_ONLY = tuple(each for each in gpm.FIELDS if "pcie" in each or "nvlink" in each)

Values = dict[Field, float]


class DeviceSession:
    """One GPU for one start of NVML; used by one thread at a time."""

    def __init__(
        self, device: Device, handle: Handle, *, now_seconds: float, has_pcie_throughput: bool
    ) -> None:
        self.handle = handle
        self._device = device
        self._label = f"GPU {device.index}"
        self._moving = probes.MOVING + (probes.PCIE_THROUGHPUT if has_pcie_throughput else ())
        self._has_pcie_throughput = has_pcie_throughput
        self._support = Support(now_seconds=now_seconds)
        self._steady: Values = {}
        self._steady_at_seconds = -STEADY_SECONDS
        self._samplers: dict[int | None, gpm.Sampler] = {}
        self._instances: dict[int, Handle] = {}
        self._names = Names()
        self._used_at_seconds = 0.0

    def read(self, device: Device, *, at_seconds: float, now_seconds: float) -> Reading:
        """Read everything; `at_seconds` is Unix time, `now_seconds` monotonic.

        Raise DeviceLostError, DeviceError or DriverError.
        """
        if device.mig_instances != self._device.mig_instances:
            self._change(device, now_seconds)
        self._support.begin(now_seconds=now_seconds)
        values: Values = {}
        self._ask_batch(values)
        for probe in self._moving:
            self._ask(probe, values)
        self._ask_memory(values)
        self._ask_steady(values, now_seconds)
        self._ask_profiling(values)
        if not values:
            reasons = ", ".join(sorted(set(self._support.reasons().values())))
            raise DeviceError(f"{self._label}: tells nothing at all ({reasons})")
        processes = self._ask_processes(values, at_seconds)
        mig_values = {
            each.gpu_instance_id: self._ask_instance(each, processes)
            for each in device.mig_instances
        }
        if not self._has_pcie_throughput:
            self._support.explain(_THROUGHPUT, NOT_ASKED)
        return Reading(
            at_seconds=at_seconds,
            values=values,
            unsupported=self._support.reasons(),
            mig_values=mig_values,
            processes=processes,
        )

    def close(self) -> None:
        """Give the samples back."""
        for sampler in self._samplers.values():
            try:
                sampler.close()
            except pynvml.NVMLError:  # the driver went first
                continue
        self._samplers = {}

    def _change(self, device: Device, now_seconds: float) -> None:
        """Forget what the GPU's former MIG instances were and what it gave with them."""
        self.close()
        self._instances = {}
        self._support.forget(now_seconds=now_seconds)
        self._device = device

    def _refuse(self, fields: Iterable[Field], error: pynvml.NVMLError) -> None:
        raise_if_fatal(error, self._label)
        self._support.refuse(fields, error)

    def _ask_batch(self, values: Values) -> None:
        rows = [row for row in batch.ROWS if not self._support.skips((row.field,))]
        if not rows:
            return
        try:
            for row, answer in batch.ask(self.handle, rows):
                if isinstance(answer, float):
                    values[row.field] = answer
                else:
                    self._refuse((row.field,), answer)
        except pynvml.NVMLError as error:
            self._refuse([row.field for row in rows], error)

    def _ask(self, probe: probes.Probe, values: Values) -> None:
        if self._support.skips(probe.fields):
            return
        try:
            values.update(probe.values(self.handle))
        except pynvml.NVMLError as error:
            self._refuse(probe.fields, error)

    def _ask_memory(self, values: Values) -> None:
        if self._support.skips(_MEMORY):
            return
        try:
            values.update(probes.memory(self.handle))
        except pynvml.NVMLError as error:
            self._refuse((*_MEMORY, *_RESERVED), error)
            return
        if Field.MEMORY_RESERVED_BYTES not in values:
            self._support.explain(_RESERVED, _OLD_MEMORY, is_lasting=False)

    def _ask_steady(self, values: Values, now_seconds: float) -> None:
        if now_seconds - self._steady_at_seconds >= STEADY_SECONDS:
            self._steady = {}
            for probe in probes.STEADY:
                self._ask(probe, self._steady)
            self._steady_at_seconds = now_seconds
        values.update(self._steady)

    def _ask_profiling(self, values: Values) -> None:
        if self._support.skips(gpm.FIELDS):
            return
        try:
            if None not in self._samplers and not gpm.is_supported(self.handle):
                self._support.explain(gpm.FIELDS, NO_GPM)
                return
            told = self._sampler(None, self._take_whole).values()
        except pynvml.NVMLError_NotSupported:
            self._support.explain(gpm.FIELDS, NO_GPM)
        except pynvml.NVMLError as error:
            self._refuse(gpm.FIELDS, error)
        else:
            if told is None:
                self._support.explain(gpm.FIELDS, ONE_SAMPLE, is_lasting=False)
            values.update(told or {})

    def _take_whole(self, sample: Handle) -> object:
        return pynvml.nvmlGpmSampleGet(self.handle, sample)

    def _sampler(self, key: int | None, take: Callable[[Handle], object]) -> gpm.Sampler:
        if key not in self._samplers:
            self._samplers[key] = gpm.Sampler(take)
        return self._samplers[key]

    def _ask_processes(self, values: Values, at_seconds: float) -> tuple[ProcessReading, ...]:
        if self._support.skips(_PROCESSES):
            return ()
        try:
            listed = self._listed()
        except pynvml.NVMLError as error:
            self._refuse(_PROCESSES, error)
            return ()
        values[Field.COMPUTE_PROCESSES] = sum(each.is_compute for each in listed)
        use = self._use(at_seconds) if listed else {}
        names = self._names.of(each.pid for each in listed)
        return tuple(with_use(each, use, names[each.pid]) for each in listed)

    def _listed(self) -> list[ProcessReading]:
        if not self._device.mig_instances:
            return list_processes(self.handle)
        return [
            replace(each, gpu_instance_id=instance.gpu_instance_id)
            for instance in self._device.mig_instances
            for each in list_processes(self._instance_handle(instance))
        ]

    def _use(self, at_seconds: float) -> dict[int, Use] | None:
        since = min(self._used_at_seconds or 0.0, at_seconds - MIN_WINDOW_SECONDS)
        since = max(since, at_seconds - STEADY_SECONDS)  # not what is long past
        self._used_at_seconds = at_seconds
        try:
            return dict(use_by_pid(self.handle, since_seconds=since))
        except pynvml.NVMLError as error:
            raise_if_fatal(error, self._label)
            return None

    def _instance_handle(self, instance: MigInstance) -> Handle:
        number = instance.gpu_instance_id
        if number not in self._instances:
            self._instances[number] = pynvml.nvmlDeviceGetHandleByUUID(instance.uuid)
        return self._instances[number]

    def _ask_instance(self, instance: MigInstance, processes: Iterable[ProcessReading]) -> Values:
        """Return what is an instance's own; what it refuses is left out."""
        number = instance.gpu_instance_id
        own = sum(each.gpu_instance_id == number and each.is_compute for each in processes)
        values: Values = {}
        try:
            values |= probes.memory(self._instance_handle(instance))
            values[Field.COMPUTE_PROCESSES] = own
            if None in self._samplers:
                values |= self._profile_instance(number)
        except pynvml.NVMLError as error:
            raise_if_fatal(error, self._label)
        return values

    def _profile_instance(self, number: int) -> Values:
        def take(sample: Handle) -> object:
            return pynvml.nvmlGpmMigSampleGet(self.handle, number, sample)

        told = self._sampler(number, take).values() or {}
        return {field: value for field, value in told.items() if field not in _GPM_WHOLE_ONLY}
