"""Who computes on a GPU, and how much of it each process takes."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.model import ProcessReading
from gputide.exporter.nvml.driver import Handle, is_lasting

MIN_WINDOW_SECONDS = 2.0
"""The driver samples about once a second: a shorter look back may miss a busy process."""

_NO_INSTANCE = 0xFFFFFFFF
_VERSIONS = ("_v3", "_v2")  # the older for drivers before 510


@dataclass(frozen=True, slots=True)
class Use:
    """What a process took of the GPU, each 0 to 1."""

    sm: float = 0
    memory_copy: float = 0
    encoder: float = 0
    decoder: float = 0


_IDLE = Use()


def list_processes(handle: Handle) -> list[ProcessReading]:
    """Return the processes on a GPU or MIG instance, without names and use; raise NVMLError.

    One that computes and draws is listed once, as one that computes.
    """
    found: dict[int, ProcessReading] = {}
    for kind in ("Compute", "MPSCompute", "Graphics"):
        try:
            listed = _running(kind, handle)
        except pynvml.NVMLError as error:
            if kind == "Compute" or not is_lasting(error):
                raise
            continue
        for each in listed:
            instance = each.gpuInstanceId
            reading = ProcessReading(
                pid=int(each.pid),
                name="",
                is_compute=kind != "Graphics",
                gpu_instance_id=None if instance in (None, _NO_INSTANCE) else int(instance),
                memory_bytes=None if each.usedGpuMemory is None else int(each.usedGpuMemory),
            )
            found.setdefault(reading.pid, reading)
    return list(found.values())


def _running(kind: str, handle: Handle) -> Iterable[pynvml.c_nvmlProcessInfo_v3_t]:
    for version in _VERSIONS:
        ask = getattr(pynvml, f"nvmlDeviceGet{kind}RunningProcesses{version}")
        try:
            return list(ask(handle))
        except pynvml.NVMLError_FunctionNotFound:
            if version == _VERSIONS[-1]:
                raise
    return ()


def use_by_pid(handle: Handle, *, since_seconds: float) -> Mapping[int, Use]:
    """Return the mean use of each process that did something since that Unix time.

    Raise NVMLError; that nobody did anything is none.
    """
    try:
        samples = pynvml.nvmlDeviceGetProcessUtilization(handle, int(since_seconds * 1e6))
    except pynvml.NVMLError as error:
        if error.value in (pynvml.NVML_ERROR_NOT_FOUND, pynvml.NVML_SUCCESS):
            return {}
        raise
    by_pid: dict[int, list[Use]] = {}
    for each in samples:
        percents = (each.smUtil, each.memUtil, each.encUtil, each.decUtil)
        if max(percents) <= 100:  # 4294967295 and such stand for nothing known
            by_pid.setdefault(int(each.pid), []).append(Use(*(each / 100 for each in percents)))
    return {pid: _mean(uses) for pid, uses in by_pid.items()}


def with_use(process: ProcessReading, use: Mapping[int, Use] | None, name: str) -> ProcessReading:
    """Return a process with its name and use: idle where it did nothing, None where untold."""
    if use is None:
        return replace(process, name=name)
    own = use.get(process.pid, _IDLE)
    return replace(
        process,
        name=name,
        sm_ratio=own.sm,
        memory_copy_ratio=own.memory_copy,
        encoder_ratio=own.encoder,
        decoder_ratio=own.decoder,
    )


class Names:
    """Names of processes; kept for as long as they are on the GPU."""

    def __init__(self) -> None:
        self._by_pid: dict[int, str] = {}

    def of(self, pids: Iterable[int]) -> Mapping[int, str]:
        """Return the names of these, and forget all others; empty where it cannot be had."""
        self._by_pid = {pid: self._by_pid.get(pid) or _name(pid) for pid in pids}
        return self._by_pid


def _name(pid: int) -> str:
    try:
        return str(pynvml.nvmlSystemGetProcessName(pid))
    except (pynvml.NVMLError, UnicodeDecodeError):  # of another namespace, or just gone
        return ""


def _mean(uses: list[Use]) -> Use:
    count = len(uses)
    return Use(
        sum(use.sm for use in uses) / count,
        sum(use.memory_copy for use in uses) / count,
        sum(use.encoder for use in uses) / count,
        sum(use.decoder for use in uses) / count,
    )
