"""What work does to a GPU: clocks, power, heat, and the counters that integrate them. Pure."""

from dataclasses import dataclass

from gputide.exporter.simulated.faults import GpuFaults
from gputide.exporter.simulated.profiles import GpuProfile

STEP_SECONDS = 5.0
"""Totals are integrated on a fixed grid of this step: they do not depend on who reads when."""

AMBIENT_CELSIUS = 27.0
_INERTIA_SECONDS = 45.0
_IDLE_BELOW_RATIO = 0.005

REASON_GPU_IDLE = 0x1
REASON_POWER_CAP = 0x4
REASON_SOFTWARE_THERMAL = 0x20
REASON_HARDWARE_THERMAL = 0x40


@dataclass(frozen=True, slots=True, kw_only=True)
class Instant:
    """How a GPU runs at one moment."""

    busy_ratio: float
    sm_hertz: float
    power_watts: float
    clock_event_reasons: int
    performance_state: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What has accumulated, and the temperature, which has inertia."""

    temperature_celsius: float
    energy_joules: float = 0
    nvlink_bytes: float = 0
    """Sent, and received as much again."""

    power_violation_seconds: float = 0
    thermal_violation_seconds: float = 0


def instant(profile: GpuProfile, busy_ratio: float, faults: GpuFaults) -> Instant:
    """Return clocks and power under that load."""
    is_idle = busy_ratio < _IDLE_BELOW_RATIO
    if is_idle and not faults.thermal_throttle:
        return Instant(
            busy_ratio=0,
            sm_hertz=profile.idle_sm_hertz,
            power_watts=profile.idle_watts,
            clock_event_reasons=REASON_GPU_IDLE,
            performance_state=0 if profile.has_hbm else 8,
        )
    reasons, clock_ratio = 0, 1.0
    if faults.thermal_throttle:
        reasons |= REASON_SOFTWARE_THERMAL | REASON_HARDWARE_THERMAL
        clock_ratio = 0.45
    # A full load wants a little more than the limit, as dense kernels do.
    span = 1.06 * profile.limit_watts - profile.idle_watts
    wanted = profile.idle_watts + span * busy_ratio**0.85 * clock_ratio
    if wanted > profile.limit_watts:
        reasons |= REASON_POWER_CAP
        clock_ratio *= (profile.limit_watts / wanted) ** (1 / 3)  # power goes with its cube
    span_hertz = profile.max_sm_hertz - profile.idle_sm_hertz
    return Instant(
        busy_ratio=busy_ratio,
        sm_hertz=_on_grid(profile.idle_sm_hertz + span_hertz * clock_ratio),
        power_watts=min(wanted, profile.limit_watts),
        clock_event_reasons=reasons,
        performance_state=0,
    )


def settled(profile: GpuProfile, now: Instant, faults: GpuFaults) -> float:
    """Return the temperature that this power settles at, in Celsius."""
    if faults.thermal_throttle:
        return profile.slowdown_celsius + 1
    per_watt = (profile.full_load_celsius - AMBIENT_CELSIUS) / profile.limit_watts
    return AMBIENT_CELSIUS + per_watt * now.power_watts


def advance(profile: GpuProfile, totals: Totals, now: Instant, faults: GpuFaults) -> Totals:
    """Return the totals a step later."""
    return ahead(profile, totals, now, faults, STEP_SECONDS)


def ahead(
    profile: GpuProfile, totals: Totals, now: Instant, faults: GpuFaults, seconds: float
) -> Totals:
    """Return the totals some seconds later, at most a step."""
    pull = seconds / (_INERTIA_SECONDS + seconds)  # implicit Euler: never overshoots
    temperature = totals.temperature_celsius
    temperature += (settled(profile, now, faults) - temperature) * pull
    is_capped = now.clock_event_reasons & REASON_POWER_CAP
    is_hot = now.clock_event_reasons & (REASON_SOFTWARE_THERMAL | REASON_HARDWARE_THERMAL)
    return Totals(
        temperature_celsius=temperature,
        energy_joules=totals.energy_joules + now.power_watts * seconds,
        nvlink_bytes=totals.nvlink_bytes + nvlink_rate(profile, now) * seconds,
        power_violation_seconds=totals.power_violation_seconds + (seconds if is_capped else 0),
        thermal_violation_seconds=totals.thermal_violation_seconds + (seconds if is_hot else 0),
    )


def nvlink_rate(profile: GpuProfile, now: Instant) -> float:
    """Return bytes per second in one direction."""
    return 0.22 * profile.nvlink_bytes_per_second * now.busy_ratio


def _on_grid(hertz: float) -> float:
    """Return the nearest clock that hardware has: they lie 15 MHz apart."""
    return round(hertz / 15e6) * 15e6
