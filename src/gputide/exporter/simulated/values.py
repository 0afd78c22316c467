"""A simulated GPU's state as the fields that a driver gives. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType

from gputide.exporter.fields import Field
from gputide.exporter.model import ProcessReading
from gputide.exporter.reasons import MIG_WHOLE_ONLY, NO_GPM, NOT_ASKED, NOT_SUPPORTED
from gputide.exporter.simulated.faults import GpuFaults
from gputide.exporter.simulated.physics import Instant, Totals
from gputide.exporter.simulated.profiles import MIB, GpuProfile, MigSlot
from gputide.exporter.simulated.tenants import Tenant

CONTEXT_BYTES = 420 * MIB
"""What a process takes for its CUDA context alone."""

_PROFILING = tuple(each for each in Field if each.value.startswith("profiling_"))
_NVLINK = tuple(each for each in Field if each.value.startswith("nvlink_"))
_RETIRED = tuple(each for each in Field if each.value.startswith("retired_"))
_REMAPPING = (
    Field.REMAPPED_CORRECTABLE_ROWS_TOTAL,
    Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL,
    Field.ROW_REMAP_PENDING,
    Field.ROW_REMAP_FAILURE,
)
_WHOLE_ONLY = (
    Field.GPU_UTILIZATION_RATIO,
    Field.MEMORY_COPY_UTILIZATION_RATIO,
    Field.ENCODER_UTILIZATION_RATIO,
    Field.DECODER_UTILIZATION_RATIO,
)
_NOT_ASKED = (Field.PCIE_SENT_BYTES_PER_SECOND, Field.PCIE_RECEIVED_BYTES_PER_SECOND)


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """A simulated GPU at one moment."""

    profile: GpuProfile
    now: Instant
    totals: Totals
    faults: GpuFaults
    tenants: Sequence[tuple[Tenant, float]]
    """Each with how busy it is: of the GPU, or of its MIG instance, 0 to 1."""

    last_xid: int = 0


@cache
def unsupported(profile: GpuProfile) -> Mapping[Field, str]:
    """Return what such a GPU does not give, and why; not to be changed."""
    reasons = dict.fromkeys((Field.FAN_SPEED_RATIO,), NOT_SUPPORTED)
    if not profile.has_hbm:
        reasons[Field.MEMORY_TEMPERATURE_CELSIUS] = NOT_SUPPORTED
    if not profile.nvlink_bytes_per_second:
        reasons |= dict.fromkeys(_NVLINK, NOT_SUPPORTED)
    if not profile.has_gpm:
        reasons |= dict.fromkeys(_PROFILING, NO_GPM)
    reasons |= dict.fromkeys(_RETIRED if profile.has_row_remapping else _REMAPPING, NOT_SUPPORTED)
    if profile.mig:
        reasons |= dict.fromkeys(_WHOLE_ONLY, MIG_WHOLE_ONLY)
    return MappingProxyType(reasons | dict.fromkeys(_NOT_ASKED, NOT_ASKED))


def card_values(state: State) -> dict[Field, float]:
    """Return the values of a whole GPU, without those that it does not give."""
    values = {
        **_clocks(state),
        **_power(state),
        **_utilization(state.now.busy_ratio),
        **_memory(state.profile.memory_bytes, state.profile.reserved_bytes, _used(state.tenants)),
        **_links(state),
        **_errors(state),
        **profiling(state.profile, state.now.busy_ratio),
        Field.COMPUTE_PROCESSES: len(state.tenants),
        Field.MIG_MODE: float(bool(state.profile.mig)),
        Field.VGPU_LICENSE_STATUS: 0,
    }
    refused = unsupported(state.profile)
    return {field: value for field, value in values.items() if field not in refused}


def instance_values(state: State, slot: MigSlot) -> dict[Field, float]:
    """Return what is a MIG instance's own."""
    own = [
        (tenant, busy)
        for tenant, busy in state.tenants
        if tenant.gpu_instance_id == slot.gpu_instance_id
    ]
    values = _memory(slot.memory_bytes, 0, _used(own))
    values[Field.COMPUTE_PROCESSES] = len(own)
    if state.profile.has_gpm:
        busy = sum(busy for _, busy in own)
        values |= {
            field: value
            for field, value in profiling(state.profile, busy).items()
            if "pcie" not in field and "nvlink" not in field
        }
    return values


def processes(state: State) -> tuple[ProcessReading, ...]:
    """Return the tenants' processes; MIG tells no utilization of them."""
    return tuple(
        ProcessReading(
            pid=tenant.pid,
            name=tenant.process_name,
            gpu_instance_id=tenant.gpu_instance_id,
            memory_bytes=_process_bytes(tenant, busy),
            sm_ratio=None if state.profile.mig else busy,
            memory_copy_ratio=None if state.profile.mig else 0.35 * busy,
            encoder_ratio=None if state.profile.mig else 0,
            decoder_ratio=None if state.profile.mig else 0,
        )
        for tenant, busy in state.tenants
    )


def profiling(profile: GpuProfile, busy: float) -> dict[Field, float]:
    """Return the profiling values of something that busy."""
    return {
        Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO: busy,
        Field.PROFILING_SM_ACTIVE_RATIO: 0.86 * busy,
        Field.PROFILING_SM_OCCUPANCY_RATIO: 0.31 * busy,
        Field.PROFILING_TENSOR_ACTIVE_RATIO: 0.44 * busy,
        Field.PROFILING_DRAM_ACTIVE_RATIO: 0.38 * busy,
        Field.PROFILING_FP64_ACTIVE_RATIO: 0,
        Field.PROFILING_FP32_ACTIVE_RATIO: 0.09 * busy,
        Field.PROFILING_FP16_ACTIVE_RATIO: 0.05 * busy,
        Field.PROFILING_INTEGER_ACTIVE_RATIO: 0.12 * busy,
        Field.PROFILING_PCIE_SENT_BYTES_PER_SECOND: 80e3 + 0.9e9 * busy,
        Field.PROFILING_PCIE_RECEIVED_BYTES_PER_SECOND: 420e3 + 2.4e9 * busy,
        Field.PROFILING_NVLINK_SENT_BYTES_PER_SECOND: 0.22 * profile.nvlink_bytes_per_second * busy,
        Field.PROFILING_NVLINK_RECEIVED_BYTES_PER_SECOND: 0.22
        * profile.nvlink_bytes_per_second
        * busy,
    }


def _clocks(state: State) -> Mapping[Field, float]:
    profile, now = state.profile, state.now
    is_low = now.performance_state > 0
    video_ratio = now.sm_hertz / profile.max_sm_hertz
    return {
        Field.SM_CLOCK_HERTZ: now.sm_hertz,
        Field.MEMORY_CLOCK_HERTZ: profile.idle_memory_hertz if is_low else profile.max_memory_hertz,
        Field.VIDEO_CLOCK_HERTZ: round(profile.max_video_hertz * video_ratio / 15e6) * 15e6,
        Field.APP_SM_CLOCK_HERTZ: profile.max_sm_hertz,
        Field.APP_MEMORY_CLOCK_HERTZ: profile.max_memory_hertz,
        Field.MAX_SM_CLOCK_HERTZ: profile.max_sm_hertz,
        Field.MAX_MEMORY_CLOCK_HERTZ: profile.max_memory_hertz,
        Field.CLOCK_EVENT_REASONS: now.clock_event_reasons,
        Field.PERFORMANCE_STATE: now.performance_state,
    }


def _power(state: State) -> Mapping[Field, float]:
    profile, watts = state.profile, state.now.power_watts
    celsius = round(state.totals.temperature_celsius)
    return {
        Field.TEMPERATURE_CELSIUS: celsius,
        Field.MEMORY_TEMPERATURE_CELSIUS: celsius + round(9 * watts / profile.limit_watts),
        Field.SLOWDOWN_TEMPERATURE_CELSIUS: profile.slowdown_celsius,
        Field.SHUTDOWN_TEMPERATURE_CELSIUS: profile.shutdown_celsius,
        Field.POWER_WATTS: round(watts, 3),
        Field.POWER_INSTANT_WATTS: round(watts, 3),
        Field.POWER_LIMIT_WATTS: profile.limit_watts,
        Field.POWER_ENFORCED_LIMIT_WATTS: profile.limit_watts,
        Field.POWER_DEFAULT_LIMIT_WATTS: profile.limit_watts,
        Field.POWER_MIN_LIMIT_WATTS: profile.min_limit_watts,
        Field.POWER_MAX_LIMIT_WATTS: profile.limit_watts,
        Field.ENERGY_JOULES_TOTAL: round(state.totals.energy_joules, 3),
        Field.POWER_VIOLATION_SECONDS_TOTAL: state.totals.power_violation_seconds,
        Field.THERMAL_VIOLATION_SECONDS_TOTAL: state.totals.thermal_violation_seconds,
        Field.SYNC_BOOST_VIOLATION_SECONDS_TOTAL: 0,
        Field.BOARD_LIMIT_VIOLATION_SECONDS_TOTAL: 0,
        Field.LOW_UTIL_VIOLATION_SECONDS_TOTAL: 0,
        Field.RELIABILITY_VIOLATION_SECONDS_TOTAL: 0,
    }


def _utilization(busy: float) -> Mapping[Field, float]:
    return {
        Field.GPU_UTILIZATION_RATIO: round(busy, 2),  # the driver gives whole percent
        Field.MEMORY_COPY_UTILIZATION_RATIO: round(0.35 * busy, 2),
        Field.ENCODER_UTILIZATION_RATIO: 0,
        Field.DECODER_UTILIZATION_RATIO: 0,
    }


def _memory(total: int, reserved: int, used: int) -> dict[Field, float]:
    return {
        Field.MEMORY_TOTAL_BYTES: total,
        Field.MEMORY_RESERVED_BYTES: reserved,
        Field.MEMORY_USED_BYTES: used,
        Field.MEMORY_FREE_BYTES: total - reserved - used,
    }


def _used(tenants: Iterable[tuple[Tenant, float]]) -> int:
    return sum(_process_bytes(tenant, busy) for tenant, busy in tenants)


def _process_bytes(tenant: Tenant, busy: float) -> int:
    """Return a process' memory: weights stay, caches grow with the work."""
    most = tenant.used_memory_ratio * tenant.allocated_memory_bytes
    wanted = CONTEXT_BYTES + most * (0.6 + 0.4 * busy)
    return int(min(wanted, tenant.allocated_memory_bytes) // MIB * MIB)


def _links(state: State) -> Mapping[Field, float]:
    profile = state.profile
    bar1_used = (3 + 2 * len(state.tenants)) * MIB
    is_low = state.now.performance_state > 0
    errors = dict.fromkeys((each for each in _NVLINK if "errors" in each), 0.0)
    return {
        **errors,
        Field.NVLINK_SENT_BYTES_TOTAL: state.totals.nvlink_bytes,
        Field.NVLINK_RECEIVED_BYTES_TOTAL: state.totals.nvlink_bytes,
        Field.PCIE_REPLAYS_TOTAL: 0,
        Field.PCIE_LINK_GENERATION: 1 if is_low else profile.pcie_generation,
        Field.PCIE_LINK_WIDTH: 16,
        Field.PCIE_MAX_LINK_GENERATION: profile.pcie_generation,
        Field.PCIE_MAX_LINK_WIDTH: 16,
        Field.BAR1_TOTAL_BYTES: profile.bar1_bytes,
        Field.BAR1_USED_BYTES: bar1_used,
        Field.BAR1_FREE_BYTES: profile.bar1_bytes - bar1_used,
    }


def _errors(state: State) -> Mapping[Field, float]:
    single, double = state.faults.ecc_single_bit, state.faults.ecc_double_bit
    is_hurt = float(double > 0)
    return {
        Field.XID_LAST: state.last_xid,
        Field.ECC_SBE_VOLATILE_TOTAL: single,
        Field.ECC_SBE_AGGREGATE_TOTAL: single,
        Field.ECC_DBE_VOLATILE_TOTAL: double,
        Field.ECC_DBE_AGGREGATE_TOTAL: double,
        Field.RETIRED_SBE_PAGES_TOTAL: single // 2,  # a page goes with its second error
        Field.RETIRED_DBE_PAGES_TOTAL: double,
        Field.RETIRED_PENDING_PAGES: is_hurt,
        Field.REMAPPED_CORRECTABLE_ROWS_TOTAL: 0,
        Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL: double,
        Field.ROW_REMAP_PENDING: is_hurt,
        Field.ROW_REMAP_FAILURE: 0,
        Field.RECOVERY_ACTION: is_hurt,
    }
