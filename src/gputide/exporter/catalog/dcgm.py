"""DCGM's fields: the exact names, types and helps of dcgm-exporter, with our source for each.

A help that says "(in MHz)" is DCGM's; the unit column is what converts our base unit into it.
"""

from gputide.exporter.catalog.rows import (
    BYTES,
    BYTES_PER_SECOND,
    CELSIUS,
    KILOBYTES_PER_SECOND,
    MEBIBYTES,
    MEGAHERTZ,
    MILLIJOULES,
    NANOSECONDS,
    NUMBER,
    PERCENT,
    RATIO,
    WATTS,
    Derived,
    FieldRow,
    LabelRow,
    Scope,
)
from gputide.exporter.fields import Fact, Field
from gputide.exposition import Kind

GAUGE, COUNTER = Kind.GAUGE, Kind.COUNTER
CARD, OWN, WHOLE = Scope.CARD, Scope.INSTANCE, Scope.NOT_IN_MIG
DEFAULT, ON_REQUEST = True, False

# fmt: off
FIELDS: tuple[FieldRow, ...] = (
    # Clocks
    FieldRow("DCGM_FI_DEV_SM_CLOCK", GAUGE, Field.SM_CLOCK_HERTZ, MEGAHERTZ, CARD, DEFAULT, "SM clock frequency (in MHz)."),
    FieldRow("DCGM_FI_DEV_MEM_CLOCK", GAUGE, Field.MEMORY_CLOCK_HERTZ, MEGAHERTZ, CARD, DEFAULT, "Memory clock frequency (in MHz)."),
    FieldRow("DCGM_FI_DEV_VIDEO_CLOCK", GAUGE, Field.VIDEO_CLOCK_HERTZ, MEGAHERTZ, CARD, ON_REQUEST, "Video encoder and decoder clock frequency (in MHz)."),
    FieldRow("DCGM_FI_DEV_APP_SM_CLOCK", GAUGE, Field.APP_SM_CLOCK_HERTZ, MEGAHERTZ, CARD, ON_REQUEST, "SM application clock (in MHz)."),
    FieldRow("DCGM_FI_DEV_APP_MEM_CLOCK", GAUGE, Field.APP_MEMORY_CLOCK_HERTZ, MEGAHERTZ, CARD, ON_REQUEST, "Memory application clock (in MHz)."),
    FieldRow("DCGM_FI_DEV_MAX_SM_CLOCK", GAUGE, Field.MAX_SM_CLOCK_HERTZ, MEGAHERTZ, CARD, ON_REQUEST, "Highest SM clock that the GPU can run at (in MHz)."),
    FieldRow("DCGM_FI_DEV_MAX_MEM_CLOCK", GAUGE, Field.MAX_MEMORY_CLOCK_HERTZ, MEGAHERTZ, CARD, ON_REQUEST, "Highest memory clock that the GPU can run at (in MHz)."),
    FieldRow("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", GAUGE, Field.CLOCK_EVENT_REASONS, NUMBER, CARD, ON_REQUEST, "Bitmap of the reasons why the clocks are held down."),
    FieldRow("DCGM_FI_DEV_PSTATE", GAUGE, Field.PERFORMANCE_STATE, NUMBER, CARD, ON_REQUEST, "Performance state, 0 (highest) to 15."),
    FieldRow("DCGM_FI_DEV_FAN_SPEED", GAUGE, Field.FAN_SPEED_RATIO, PERCENT, CARD, ON_REQUEST, "Fan speed (in % of its maximum)."),
    # Temperature
    FieldRow("DCGM_FI_DEV_MEMORY_TEMP", GAUGE, Field.MEMORY_TEMPERATURE_CELSIUS, CELSIUS, CARD, DEFAULT, "Memory temperature (in C)."),
    FieldRow("DCGM_FI_DEV_GPU_TEMP", GAUGE, Field.TEMPERATURE_CELSIUS, CELSIUS, CARD, DEFAULT, "GPU temperature (in C)."),
    FieldRow("DCGM_FI_DEV_SLOWDOWN_TEMP", GAUGE, Field.SLOWDOWN_TEMPERATURE_CELSIUS, CELSIUS, CARD, ON_REQUEST, "Temperature at which the GPU slows itself down (in C)."),
    FieldRow("DCGM_FI_DEV_SHUTDOWN_TEMP", GAUGE, Field.SHUTDOWN_TEMPERATURE_CELSIUS, CELSIUS, CARD, ON_REQUEST, "Temperature at which the GPU shuts itself down (in C)."),
    # Power
    FieldRow("DCGM_FI_DEV_POWER_USAGE", GAUGE, Field.POWER_WATTS, WATTS, CARD, DEFAULT, "Power draw (in W)."),
    FieldRow("DCGM_FI_DEV_POWER_USAGE_INSTANT", GAUGE, Field.POWER_INSTANT_WATTS, WATTS, CARD, ON_REQUEST, "Power draw at this instant, not averaged (in W)."),
    FieldRow("DCGM_FI_DEV_POWER_MGMT_LIMIT", GAUGE, Field.POWER_LIMIT_WATTS, WATTS, CARD, ON_REQUEST, "Power limit that is set (in W)."),
    FieldRow("DCGM_FI_DEV_POWER_MGMT_LIMIT_MIN", GAUGE, Field.POWER_MIN_LIMIT_WATTS, WATTS, CARD, ON_REQUEST, "Lowest power limit that can be set (in W)."),
    FieldRow("DCGM_FI_DEV_POWER_MGMT_LIMIT_MAX", GAUGE, Field.POWER_MAX_LIMIT_WATTS, WATTS, CARD, ON_REQUEST, "Highest power limit that can be set (in W)."),
    FieldRow("DCGM_FI_DEV_POWER_MGMT_LIMIT_DEF", GAUGE, Field.POWER_DEFAULT_LIMIT_WATTS, WATTS, CARD, ON_REQUEST, "Power limit after a reset (in W)."),
    FieldRow("DCGM_FI_DEV_ENFORCED_POWER_LIMIT", GAUGE, Field.POWER_ENFORCED_LIMIT_WATTS, WATTS, CARD, ON_REQUEST, "Power limit in force, the lowest of all limiters (in W)."),
    FieldRow("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", COUNTER, Field.ENERGY_JOULES_TOTAL, MILLIJOULES, CARD, DEFAULT, "Total energy consumption since boot (in mJ)."),
    # PCIe
    FieldRow("DCGM_FI_DEV_PCIE_TX_THROUGHPUT", GAUGE, Field.PCIE_SENT_BYTES_PER_SECOND, KILOBYTES_PER_SECOND, CARD, ON_REQUEST, "Rate sent over PCIe, sampled for 20 ms (in KB/s)."),
    FieldRow("DCGM_FI_DEV_PCIE_RX_THROUGHPUT", GAUGE, Field.PCIE_RECEIVED_BYTES_PER_SECOND, KILOBYTES_PER_SECOND, CARD, ON_REQUEST, "Rate received over PCIe, sampled for 20 ms (in KB/s)."),
    FieldRow("DCGM_FI_DEV_PCIE_REPLAY_COUNTER", COUNTER, Field.PCIE_REPLAYS_TOTAL, NUMBER, CARD, DEFAULT, "Total number of PCIe retries."),
    FieldRow("DCGM_FI_DEV_PCIE_LINK_GEN", GAUGE, Field.PCIE_LINK_GENERATION, NUMBER, CARD, ON_REQUEST, "PCIe generation of the link now."),
    FieldRow("DCGM_FI_DEV_PCIE_LINK_WIDTH", GAUGE, Field.PCIE_LINK_WIDTH, NUMBER, CARD, ON_REQUEST, "PCIe lanes of the link now."),
    FieldRow("DCGM_FI_DEV_PCIE_MAX_LINK_GEN", GAUGE, Field.PCIE_MAX_LINK_GENERATION, NUMBER, CARD, ON_REQUEST, "Highest PCIe generation of GPU and slot together."),
    FieldRow("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", GAUGE, Field.PCIE_MAX_LINK_WIDTH, NUMBER, CARD, ON_REQUEST, "Most PCIe lanes of GPU and slot together."),
    # Utilization
    FieldRow("DCGM_FI_DEV_GPU_UTIL", GAUGE, Field.GPU_UTILIZATION_RATIO, PERCENT, WHOLE, DEFAULT, "GPU utilization (in %)."),
    FieldRow("DCGM_FI_DEV_MEM_COPY_UTIL", GAUGE, Field.MEMORY_COPY_UTILIZATION_RATIO, PERCENT, WHOLE, DEFAULT, "Memory utilization (in %)."),
    FieldRow("DCGM_FI_DEV_ENC_UTIL", GAUGE, Field.ENCODER_UTILIZATION_RATIO, PERCENT, WHOLE, DEFAULT, "Encoder utilization (in %)."),
    FieldRow("DCGM_FI_DEV_DEC_UTIL", GAUGE, Field.DECODER_UTILIZATION_RATIO, PERCENT, WHOLE, DEFAULT, "Decoder utilization (in %)."),
    # Errors, violations
    FieldRow("DCGM_FI_DEV_XID_ERRORS", GAUGE, Field.XID_LAST, NUMBER, CARD, DEFAULT, "Value of the last XID error encountered."),
    FieldRow("DCGM_FI_DEV_POWER_VIOLATION", COUNTER, Field.POWER_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to power constraints (in ns)."),
    FieldRow("DCGM_FI_DEV_THERMAL_VIOLATION", COUNTER, Field.THERMAL_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to thermal constraints (in ns)."),
    FieldRow("DCGM_FI_DEV_SYNC_BOOST_VIOLATION", COUNTER, Field.SYNC_BOOST_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to sync-boost constraints (in ns)."),
    FieldRow("DCGM_FI_DEV_BOARD_LIMIT_VIOLATION", COUNTER, Field.BOARD_LIMIT_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to board limit constraints (in ns)."),
    FieldRow("DCGM_FI_DEV_LOW_UTIL_VIOLATION", COUNTER, Field.LOW_UTIL_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to low utilization (in ns)."),
    FieldRow("DCGM_FI_DEV_RELIABILITY_VIOLATION", COUNTER, Field.RELIABILITY_VIOLATION_SECONDS_TOTAL, NANOSECONDS, CARD, ON_REQUEST, "Throttling duration due to reliability constraints (in ns)."),
    # Memory
    FieldRow("DCGM_FI_DEV_FB_TOTAL", GAUGE, Field.MEMORY_TOTAL_BYTES, MEBIBYTES, OWN, ON_REQUEST, "Framebuffer memory in all (in MiB)."),
    FieldRow("DCGM_FI_DEV_FB_FREE", GAUGE, Field.MEMORY_FREE_BYTES, MEBIBYTES, OWN, DEFAULT, "Framebuffer memory free (in MiB)."),
    FieldRow("DCGM_FI_DEV_FB_USED", GAUGE, Field.MEMORY_USED_BYTES, MEBIBYTES, OWN, DEFAULT, "Framebuffer memory used (in MiB)."),
    FieldRow("DCGM_FI_DEV_FB_RESERVED", GAUGE, Field.MEMORY_RESERVED_BYTES, MEBIBYTES, OWN, DEFAULT, "Framebuffer memory reserved (in MiB)."),
    FieldRow("DCGM_FI_DEV_FB_USED_PERCENT", GAUGE, Derived.MEMORY_USED_RATIO, RATIO, OWN, ON_REQUEST, "Framebuffer memory used, of what is not reserved (0 to 1)."),
    FieldRow("DCGM_FI_DEV_BAR1_TOTAL", GAUGE, Field.BAR1_TOTAL_BYTES, MEBIBYTES, CARD, ON_REQUEST, "BAR1 memory in all (in MiB)."),
    FieldRow("DCGM_FI_DEV_BAR1_USED", GAUGE, Field.BAR1_USED_BYTES, MEBIBYTES, CARD, ON_REQUEST, "BAR1 memory used (in MiB)."),
    FieldRow("DCGM_FI_DEV_BAR1_FREE", GAUGE, Field.BAR1_FREE_BYTES, MEBIBYTES, CARD, ON_REQUEST, "BAR1 memory free (in MiB)."),
    # ECC, retired pages
    FieldRow("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", COUNTER, Field.ECC_SBE_VOLATILE_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of single-bit volatile ECC errors."),
    FieldRow("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", COUNTER, Field.ECC_DBE_VOLATILE_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of double-bit volatile ECC errors."),
    FieldRow("DCGM_FI_DEV_ECC_SBE_AGG_TOTAL", COUNTER, Field.ECC_SBE_AGGREGATE_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of single-bit persistent ECC errors."),
    FieldRow("DCGM_FI_DEV_ECC_DBE_AGG_TOTAL", COUNTER, Field.ECC_DBE_AGGREGATE_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of double-bit persistent ECC errors."),
    FieldRow("DCGM_FI_DEV_RETIRED_SBE", COUNTER, Field.RETIRED_SBE_PAGES_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of retired pages due to single-bit errors."),
    FieldRow("DCGM_FI_DEV_RETIRED_DBE", COUNTER, Field.RETIRED_DBE_PAGES_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of retired pages due to double-bit errors."),
    FieldRow("DCGM_FI_DEV_RETIRED_PENDING", COUNTER, Field.RETIRED_PENDING_PAGES, NUMBER, CARD, ON_REQUEST, "Total number of pages pending retirement."),
    # NVLink
    FieldRow("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL", COUNTER, Field.NVLINK_CRC_FLIT_ERRORS_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of NVLink flow-control CRC errors."),
    FieldRow("DCGM_FI_DEV_NVLINK_CRC_DATA_ERROR_COUNT_TOTAL", COUNTER, Field.NVLINK_CRC_DATA_ERRORS_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of NVLink data CRC errors."),
    FieldRow("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL", COUNTER, Field.NVLINK_REPLAY_ERRORS_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of NVLink retries."),
    FieldRow("DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL", COUNTER, Field.NVLINK_RECOVERY_ERRORS_TOTAL, NUMBER, CARD, ON_REQUEST, "Total number of NVLink recovery errors."),
    FieldRow("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", COUNTER, Derived.NVLINK_BYTES_TOTAL, MEBIBYTES, CARD, DEFAULT, "Total number of NVLink bandwidth counters for all lanes."),
    FieldRow("DCGM_FI_DEV_NVLINK_TX_BYTES_TOTAL", COUNTER, Field.NVLINK_SENT_BYTES_TOTAL, BYTES, CARD, ON_REQUEST, "Bytes sent over all NVLinks."),
    FieldRow("DCGM_FI_DEV_NVLINK_RX_BYTES_TOTAL", COUNTER, Field.NVLINK_RECEIVED_BYTES_TOTAL, BYTES, CARD, ON_REQUEST, "Bytes received over all NVLinks."),
    # Licence, remapped rows, state
    FieldRow("DCGM_FI_DEV_VGPU_LICENSE_STATUS", GAUGE, Field.VGPU_LICENSE_STATUS, NUMBER, CARD, DEFAULT, "vGPU License status"),
    FieldRow("DCGM_FI_DEV_UNCORRECTABLE_REMAPPED_ROWS", COUNTER, Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL, NUMBER, CARD, DEFAULT, "Number of remapped rows for uncorrectable errors"),
    FieldRow("DCGM_FI_DEV_CORRECTABLE_REMAPPED_ROWS", COUNTER, Field.REMAPPED_CORRECTABLE_ROWS_TOTAL, NUMBER, CARD, DEFAULT, "Number of remapped rows for correctable errors"),
    FieldRow("DCGM_FI_DEV_ROW_REMAP_FAILURE", GAUGE, Field.ROW_REMAP_FAILURE, NUMBER, CARD, DEFAULT, "Whether remapping of rows has failed"),
    FieldRow("DCGM_FI_DEV_ROW_REMAP_PENDING", GAUGE, Field.ROW_REMAP_PENDING, NUMBER, CARD, ON_REQUEST, "Whether remapping of rows waits for a reset"),
    FieldRow("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", GAUGE, Field.RECOVERY_ACTION, NUMBER, CARD, ON_REQUEST, "What the GPU needs to recover: 0 nothing, 1 reset, 2 reboot, 3 drain of peers, 4 drain and reset."),
    FieldRow("DCGM_FI_DEV_MIG_MODE", GAUGE, Field.MIG_MODE, NUMBER, CARD, ON_REQUEST, "Whether MIG mode is on."),
    FieldRow("DCGM_FI_DEV_COUNT", GAUGE, Derived.DEVICE_COUNT, NUMBER, CARD, ON_REQUEST, "Number of Devices on the node."),
    # Profiling
    FieldRow("DCGM_FI_PROF_GR_ENGINE_ACTIVE", GAUGE, Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO, RATIO, OWN, DEFAULT, "Ratio of time the graphics engine is active."),
    FieldRow("DCGM_FI_PROF_SM_ACTIVE", GAUGE, Field.PROFILING_SM_ACTIVE_RATIO, RATIO, OWN, ON_REQUEST, "The ratio of cycles an SM has at least 1 warp assigned."),
    FieldRow("DCGM_FI_PROF_SM_OCCUPANCY", GAUGE, Field.PROFILING_SM_OCCUPANCY_RATIO, RATIO, OWN, ON_REQUEST, "The ratio of number of warps resident on an SM."),
    FieldRow("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", GAUGE, Field.PROFILING_TENSOR_ACTIVE_RATIO, RATIO, OWN, DEFAULT, "Ratio of cycles the tensor (HMMA) pipe is active."),
    FieldRow("DCGM_FI_PROF_DRAM_ACTIVE", GAUGE, Field.PROFILING_DRAM_ACTIVE_RATIO, RATIO, OWN, DEFAULT, "Ratio of cycles the device memory interface is active sending or receiving data."),
    FieldRow("DCGM_FI_PROF_PIPE_FP64_ACTIVE", GAUGE, Field.PROFILING_FP64_ACTIVE_RATIO, RATIO, OWN, ON_REQUEST, "Ratio of cycles the fp64 pipes are active."),
    FieldRow("DCGM_FI_PROF_PIPE_FP32_ACTIVE", GAUGE, Field.PROFILING_FP32_ACTIVE_RATIO, RATIO, OWN, ON_REQUEST, "Ratio of cycles the fp32 pipes are active."),
    FieldRow("DCGM_FI_PROF_PIPE_FP16_ACTIVE", GAUGE, Field.PROFILING_FP16_ACTIVE_RATIO, RATIO, OWN, ON_REQUEST, "Ratio of cycles the fp16 pipes are active."),
    FieldRow("DCGM_FI_PROF_PIPE_INT_ACTIVE", GAUGE, Field.PROFILING_INTEGER_ACTIVE_RATIO, RATIO, OWN, ON_REQUEST, "Ratio of cycles the integer pipes are active."),
    FieldRow("DCGM_FI_PROF_PCIE_TX_BYTES", GAUGE, Field.PROFILING_PCIE_SENT_BYTES_PER_SECOND, BYTES_PER_SECOND, WHOLE, DEFAULT, "The rate of data transmitted over the PCIe bus - including both protocol headers and data payloads - in bytes per second."),
    FieldRow("DCGM_FI_PROF_PCIE_RX_BYTES", GAUGE, Field.PROFILING_PCIE_RECEIVED_BYTES_PER_SECOND, BYTES_PER_SECOND, WHOLE, DEFAULT, "The rate of data received over the PCIe bus - including both protocol headers and data payloads - in bytes per second."),
    FieldRow("DCGM_FI_PROF_NVLINK_TX_BYTES", GAUGE, Field.PROFILING_NVLINK_SENT_BYTES_PER_SECOND, BYTES_PER_SECOND, WHOLE, ON_REQUEST, "The rate of data sent over NVLink, without protocol headers, in bytes per second."),
    FieldRow("DCGM_FI_PROF_NVLINK_RX_BYTES", GAUGE, Field.PROFILING_NVLINK_RECEIVED_BYTES_PER_SECOND, BYTES_PER_SECOND, WHOLE, ON_REQUEST, "The rate of data received over NVLink, without protocol headers, in bytes per second."),
)

LABELS: tuple[LabelRow, ...] = (
    LabelRow("DCGM_FI_DRIVER_VERSION", Fact.DRIVER_VERSION, DEFAULT, "Driver Version"),
    LabelRow("DCGM_FI_NVML_VERSION", Fact.NVML_VERSION, ON_REQUEST, "NVML Version"),
    LabelRow("DCGM_FI_CUDA_DRIVER_VERSION", Fact.CUDA_VERSION, ON_REQUEST, "CUDA version of the driver"),
    LabelRow("DCGM_FI_DEV_BRAND", Fact.BRAND, ON_REQUEST, "Device Brand"),
    LabelRow("DCGM_FI_DEV_SERIAL", Fact.SERIAL, ON_REQUEST, "Device Serial Number"),
    LabelRow("DCGM_FI_DEV_OEM_INFOROM_VER", Fact.OEM_INFOROM_VERSION, ON_REQUEST, "OEM inforom version"),
    LabelRow("DCGM_FI_DEV_ECC_INFOROM_VER", Fact.ECC_INFOROM_VERSION, ON_REQUEST, "ECC inforom version"),
    LabelRow("DCGM_FI_DEV_POWER_INFOROM_VER", Fact.POWER_INFOROM_VERSION, ON_REQUEST, "Power management object inforom version"),
    LabelRow("DCGM_FI_DEV_INFOROM_IMAGE_VER", Fact.INFOROM_IMAGE_VERSION, ON_REQUEST, "Inforom image version"),
    LabelRow("DCGM_FI_DEV_VBIOS_VERSION", Fact.VBIOS_VERSION, ON_REQUEST, "VBIOS version of the device"),
)
# fmt: on
