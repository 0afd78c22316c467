import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.exporter.simulated.faults import NO_FAULTS, GpuFaults
from gputide.exporter.simulated.physics import (
    AMBIENT_CELSIUS,
    REASON_GPU_IDLE,
    REASON_POWER_CAP,
    REASON_SOFTWARE_THERMAL,
    STEP_SECONDS,
    Totals,
    advance,
    ahead,
    instant,
    settled,
)
from gputide.exporter.simulated.profiles import PROFILES

PROFILE = PROFILES["h100"]
HOT = GpuFaults(thermal_throttle=True)
names = st.sampled_from(sorted(PROFILES))
ratios = st.floats(0, 1)


@given(name=names, busy=ratios, more=ratios)
def test_more_work_never_takes_less_power(name: str, busy: float, more: float) -> None:
    low, high = (instant(PROFILES[name], each, NO_FAULTS) for each in sorted((busy, more)))

    assert low.power_watts <= high.power_watts
    assert PROFILES[name].idle_watts <= low.power_watts
    assert high.power_watts <= PROFILES[name].limit_watts


@given(name=names, busy=ratios)
def test_clocks_stay_in_range_and_idle_has_its_reason(name: str, busy: float) -> None:
    profile = PROFILES[name]
    now = instant(profile, busy, NO_FAULTS)

    assert profile.idle_sm_hertz <= now.sm_hertz <= profile.max_sm_hertz
    assert (now.clock_event_reasons == REASON_GPU_IDLE) == (now.busy_ratio == 0)


def test_full_load_runs_into_the_power_limit() -> None:
    now = instant(PROFILE, 1, NO_FAULTS)

    assert now.clock_event_reasons == REASON_POWER_CAP
    assert now.power_watts == PROFILE.limit_watts
    assert now.sm_hertz < PROFILE.max_sm_hertz


def test_without_cooling_it_gets_hot_and_slow() -> None:
    cool, hot = instant(PROFILE, 0.5, NO_FAULTS), instant(PROFILE, 0.5, HOT)

    assert hot.sm_hertz < cool.sm_hertz
    assert hot.clock_event_reasons & REASON_SOFTWARE_THERMAL
    assert settled(PROFILE, hot, HOT) > PROFILE.slowdown_celsius


def test_heat_takes_its_time_and_settles() -> None:
    now = instant(PROFILE, 1, NO_FAULTS)
    totals = Totals(temperature_celsius=AMBIENT_CELSIUS)
    seen = []
    for _ in range(200):
        totals = advance(PROFILE, totals, now, NO_FAULTS)
        seen.append(totals.temperature_celsius)

    assert seen == sorted(seen)
    assert seen[0] < AMBIENT_CELSIUS + 8
    assert seen[-1] == pytest.approx(PROFILE.full_load_celsius, abs=0.1)


@given(busy=ratios, seconds=st.floats(0, STEP_SECONDS), is_hot=st.booleans())
def test_totals_never_fall_and_energy_is_power_times_time(
    *, busy: float, seconds: float, is_hot: bool
) -> None:
    faults = HOT if is_hot else NO_FAULTS
    now = instant(PROFILE, busy, faults)
    before = Totals(temperature_celsius=40, energy_joules=1e9, nvlink_bytes=5)
    after = ahead(PROFILE, before, now, faults, seconds)

    assert after.energy_joules - 1e9 == pytest.approx(now.power_watts * seconds, abs=1e-5)
    assert after.nvlink_bytes >= before.nvlink_bytes
    assert after.thermal_violation_seconds == (seconds if is_hot else 0)
