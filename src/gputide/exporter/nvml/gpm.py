"""Profiling values: GPM, which compares two samples. Hopper and newer."""

from collections.abc import Callable
from math import isfinite

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Field
from gputide.exporter.nvml.driver import Handle

MIB = 2.0**20
_P = 1e-2

METRICS: tuple[tuple[Field, int, float], ...] = (
    (Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_GRAPHICS_UTIL, _P),
    (Field.PROFILING_SM_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_SM_UTIL, _P),
    (Field.PROFILING_SM_OCCUPANCY_RATIO, pynvml.NVML_GPM_METRIC_SM_OCCUPANCY, _P),
    (Field.PROFILING_TENSOR_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_ANY_TENSOR_UTIL, _P),
    (Field.PROFILING_DRAM_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_DRAM_BW_UTIL, _P),
    (Field.PROFILING_FP64_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_FP64_UTIL, _P),
    (Field.PROFILING_FP32_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_FP32_UTIL, _P),
    (Field.PROFILING_FP16_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_FP16_UTIL, _P),
    (Field.PROFILING_INTEGER_ACTIVE_RATIO, pynvml.NVML_GPM_METRIC_INTEGER_UTIL, _P),
    (Field.PROFILING_PCIE_SENT_BYTES_PER_SECOND, pynvml.NVML_GPM_METRIC_PCIE_TX_PER_SEC, MIB),
    (Field.PROFILING_PCIE_RECEIVED_BYTES_PER_SECOND, pynvml.NVML_GPM_METRIC_PCIE_RX_PER_SEC, MIB),
    (
        Field.PROFILING_NVLINK_SENT_BYTES_PER_SECOND,
        pynvml.NVML_GPM_METRIC_NVLINK_TOTAL_TX_PER_SEC,
        MIB,
    ),
    (
        Field.PROFILING_NVLINK_RECEIVED_BYTES_PER_SECOND,
        pynvml.NVML_GPM_METRIC_NVLINK_TOTAL_RX_PER_SEC,
        MIB,
    ),
)
FIELDS = tuple(field for field, _, _ in METRICS)


def is_supported(handle: Handle) -> bool:
    """Return whether the GPU has GPM; raise NVMLError as the call does."""
    return bool(pynvml.nvmlGpmQueryDeviceSupport(handle).isSupportedDevice)


class Sampler:
    """Two samples of a GPU or MIG instance, taken in turns."""

    def __init__(self, take: Callable[[Handle], object]) -> None:
        self._take = take
        self._samples = [pynvml.nvmlGpmSampleAlloc(), pynvml.nvmlGpmSampleAlloc()]
        self._has_older = False

    def values(self) -> dict[Field, float] | None:
        """Return the values since the call before; None at the first. Raise NVMLError.

        What the driver answers with NaN is left out.
        """
        older, newer = self._samples
        self._take(newer)
        self._samples = [newer, older]
        if not self._has_older:
            self._has_older = True
            return None
        asked = pynvml.c_nvmlGpmMetricsGet_t()
        asked.version = pynvml.NVML_GPM_METRICS_GET_VERSION
        asked.numMetrics = len(METRICS)
        asked.sample1, asked.sample2 = older, newer
        for place, (_, metric, _) in enumerate(METRICS):
            asked.metrics[place].metricId = metric
        pynvml.nvmlGpmMetricsGet(asked)
        return {
            field: value * factor
            for place, (field, _, factor) in enumerate(METRICS)
            if asked.metrics[place].nvmlReturn == pynvml.NVML_SUCCESS
            and isfinite(value := float(asked.metrics[place].value))
        }

    def close(self) -> None:
        """Give the samples' memory back."""
        for sample in self._samples:
            pynvml.nvmlGpmSampleFree(sample)
        self._samples = []
