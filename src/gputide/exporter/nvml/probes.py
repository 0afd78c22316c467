"""Calls of NVML that give a field or a few. A row is a call."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import nan

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Field
from gputide.exporter.nvml.driver import Handle

MILLI = 1e-3
PERCENT = 1e-2
MEGA = 1e6
KILO = 1e3

_UNKNOWN_STATE = 32
_SM, _MEMORY, _VIDEO = pynvml.NVML_CLOCK_SM, pynvml.NVML_CLOCK_MEM, pynvml.NVML_CLOCK_VIDEO
_GRAPHICS = pynvml.NVML_CLOCK_GRAPHICS


@dataclass(frozen=True, slots=True)
class Probe:
    """A call, the fields that it gives in this order, and what turns them into base units."""

    fields: tuple[Field, ...]
    ask: Callable[[Handle], Sequence[float] | float]
    factor: float = 1

    def values(self, handle: Handle) -> dict[Field, float]:
        """Return the fields' values in base units; raise NVMLError as the call does."""
        answer = self.ask(handle)
        numbers = answer if isinstance(answer, Sequence) else (answer,)
        return {
            field: float(number) * self.factor
            for field, number in zip(self.fields, numbers, strict=True)
        }


def memory(handle: Handle) -> dict[Field, float]:
    """Return the memory of a GPU or MIG instance; before driver 510 without what is reserved."""
    try:
        told = pynvml.nvmlDeviceGetMemoryInfo(handle, version=pynvml.nvmlMemory_v2)
    except (
        pynvml.NVMLError_FunctionNotFound,
        pynvml.NVMLError_NotSupported,
        pynvml.NVMLError_ArgumentVersionMismatch,
    ):
        told = pynvml.nvmlDeviceGetMemoryInfo(handle)
    values = {
        Field.MEMORY_TOTAL_BYTES: float(told.total),
        Field.MEMORY_USED_BYTES: float(told.used),
        Field.MEMORY_FREE_BYTES: float(told.free),
    }
    reserved = getattr(told, "reserved", None)
    return values if reserved is None else values | {Field.MEMORY_RESERVED_BYTES: float(reserved)}


def _bar1(handle: Handle) -> tuple[float, ...]:
    told = pynvml.nvmlDeviceGetBAR1MemoryInfo(handle)
    return told.bar1Total, told.bar1Used, told.bar1Free


def _utilization(handle: Handle) -> tuple[float, float]:
    rates = pynvml.nvmlDeviceGetUtilizationRates(handle)
    return rates.gpu, rates.memory


def _clock_reasons(handle: Handle) -> float:
    try:
        return float(pynvml.nvmlDeviceGetCurrentClocksEventReasons(handle))
    except pynvml.NVMLError_FunctionNotFound:  # its name before driver 535
        return float(pynvml.nvmlDeviceGetCurrentClocksThrottleReasons(handle))


def _performance_state(handle: Handle) -> float:
    state = pynvml.nvmlDeviceGetPerformanceState(handle)
    return nan if state == _UNKNOWN_STATE else float(state)


def _license(handle: Handle) -> float:
    told = pynvml.nvmlDeviceGetGridLicensableFeatures(handle)
    count = min(told.licensableFeaturesCount, len(told.gridLicensableFeatures))
    return float(any(told.gridLicensableFeatures[i].featureState for i in range(count)))


def _threshold(kind: int) -> Callable[[Handle], float]:
    return lambda handle: float(pynvml.nvmlDeviceGetTemperatureThreshold(handle, kind))


MOVING: tuple[Probe, ...] = (
    Probe((Field.SM_CLOCK_HERTZ,), lambda h: pynvml.nvmlDeviceGetClockInfo(h, _SM), MEGA),
    Probe((Field.MEMORY_CLOCK_HERTZ,), lambda h: pynvml.nvmlDeviceGetClockInfo(h, _MEMORY), MEGA),
    Probe((Field.VIDEO_CLOCK_HERTZ,), lambda h: pynvml.nvmlDeviceGetClockInfo(h, _VIDEO), MEGA),
    Probe((Field.CLOCK_EVENT_REASONS,), _clock_reasons),
    Probe((Field.PERFORMANCE_STATE,), _performance_state),
    Probe((Field.FAN_SPEED_RATIO,), pynvml.nvmlDeviceGetFanSpeed, PERCENT),
    Probe(
        (Field.TEMPERATURE_CELSIUS,),
        lambda h: pynvml.nvmlDeviceGetTemperature(h, pynvml.NVML_TEMPERATURE_GPU),
    ),
    Probe((Field.POWER_WATTS,), pynvml.nvmlDeviceGetPowerUsage, MILLI),
    Probe(
        (Field.GPU_UTILIZATION_RATIO, Field.MEMORY_COPY_UTILIZATION_RATIO), _utilization, PERCENT
    ),
    Probe(
        (Field.ENCODER_UTILIZATION_RATIO,),
        lambda h: pynvml.nvmlDeviceGetEncoderUtilization(h)[0],
        PERCENT,
    ),
    Probe(
        (Field.DECODER_UTILIZATION_RATIO,),
        lambda h: pynvml.nvmlDeviceGetDecoderUtilization(h)[0],
        PERCENT,
    ),
    Probe((Field.BAR1_TOTAL_BYTES, Field.BAR1_USED_BYTES, Field.BAR1_FREE_BYTES), _bar1),
    Probe((Field.PCIE_REPLAYS_TOTAL,), pynvml.nvmlDeviceGetPcieReplayCounter),
    Probe((Field.PCIE_LINK_GENERATION,), pynvml.nvmlDeviceGetCurrPcieLinkGeneration),
    Probe((Field.PCIE_LINK_WIDTH,), pynvml.nvmlDeviceGetCurrPcieLinkWidth),
)
"""Asked at each reading."""

STEADY: tuple[Probe, ...] = (
    Probe(
        (Field.APP_SM_CLOCK_HERTZ,),
        lambda h: pynvml.nvmlDeviceGetApplicationsClock(h, _GRAPHICS),
        MEGA,
    ),
    Probe(
        (Field.APP_MEMORY_CLOCK_HERTZ,),
        lambda h: pynvml.nvmlDeviceGetApplicationsClock(h, _MEMORY),
        MEGA,
    ),
    Probe((Field.MAX_SM_CLOCK_HERTZ,), lambda h: pynvml.nvmlDeviceGetMaxClockInfo(h, _SM), MEGA),
    Probe(
        (Field.MAX_MEMORY_CLOCK_HERTZ,),
        lambda h: pynvml.nvmlDeviceGetMaxClockInfo(h, _MEMORY),
        MEGA,
    ),
    Probe(
        (Field.SLOWDOWN_TEMPERATURE_CELSIUS,),
        _threshold(pynvml.NVML_TEMPERATURE_THRESHOLD_SLOWDOWN),
    ),
    Probe(
        (Field.SHUTDOWN_TEMPERATURE_CELSIUS,),
        _threshold(pynvml.NVML_TEMPERATURE_THRESHOLD_SHUTDOWN),
    ),
    Probe((Field.POWER_LIMIT_WATTS,), pynvml.nvmlDeviceGetPowerManagementLimit, MILLI),
    Probe(
        (Field.POWER_ENFORCED_LIMIT_WATTS,),
        pynvml.nvmlDeviceGetEnforcedPowerLimit,
        MILLI,
    ),
    Probe(
        (Field.POWER_DEFAULT_LIMIT_WATTS,),
        pynvml.nvmlDeviceGetPowerManagementDefaultLimit,
        MILLI,
    ),
    Probe(
        (Field.POWER_MIN_LIMIT_WATTS, Field.POWER_MAX_LIMIT_WATTS),
        pynvml.nvmlDeviceGetPowerManagementLimitConstraints,
        MILLI,
    ),
    Probe((Field.PCIE_MAX_LINK_GENERATION,), pynvml.nvmlDeviceGetMaxPcieLinkGeneration),
    Probe((Field.PCIE_MAX_LINK_WIDTH,), pynvml.nvmlDeviceGetMaxPcieLinkWidth),
    Probe((Field.VGPU_LICENSE_STATUS,), _license),
    Probe((Field.MIG_MODE,), lambda h: pynvml.nvmlDeviceGetMigMode(h)[0]),
)
"""Asked once a minute: somebody has to change them by hand."""

PCIE_THROUGHPUT: tuple[Probe, ...] = (
    Probe(
        (Field.PCIE_SENT_BYTES_PER_SECOND,),
        lambda h: pynvml.nvmlDeviceGetPcieThroughput(h, pynvml.NVML_PCIE_UTIL_TX_BYTES),
        KILO,
    ),
    Probe(
        (Field.PCIE_RECEIVED_BYTES_PER_SECOND,),
        lambda h: pynvml.nvmlDeviceGetPcieThroughput(h, pynvml.NVML_PCIE_UTIL_RX_BYTES),
        KILO,
    ),
)
"""Asked only where somebody wants it: each blocks for 20 ms."""
