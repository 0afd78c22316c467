from math import inf, nan

import pytest

from gputide.errors import SettingError
from gputide.scaling.policy import HPA_DOWN, HPA_UP, Direction, Limit, LimitKind, Policy


def test_the_defaults_are_those_of_kubernetes() -> None:
    assert HPA_UP.stabilization_seconds == 0
    assert [(limit.kind, limit.value, limit.period_seconds) for limit in HPA_UP.limits] == [
        (LimitKind.PODS, 4, 15),
        (LimitKind.PERCENT, 100, 15),
    ]
    assert HPA_DOWN.stabilization_seconds == 300
    assert [(limit.kind, limit.value, limit.period_seconds) for limit in HPA_DOWN.limits] == [
        (LimitKind.PERCENT, 100, 15)
    ]


@pytest.mark.parametrize(
    "knobs",
    [
        {"proactive_target": 0},
        {"reactive_target": nan},
        {"forecast_cap_ratio": 0},
        {"tolerance_up_ratio": 1},
        {"tolerance_down_ratio": -0.1},
        {"dead_band_ratio": nan},
        {"recovery_grace_seconds": inf},
        {"recovery_grace_seconds": -1},
    ],
)
def test_a_knob_that_cannot_be_is_named(knobs: dict[str, float]) -> None:
    (name,) = knobs
    with pytest.raises(SettingError) as caught:
        Policy(**({"proactive_target": 0.9, "reactive_target": 0.9} | knobs))
    assert caught.value.setting == name.replace("_", "-")


@pytest.mark.parametrize("value", [0, -1, inf, nan])
def test_a_limit_allows_some_pods(value: float) -> None:
    with pytest.raises(SettingError, match="value"):
        Limit(kind=LimitKind.PODS, value=value, period_seconds=15)


@pytest.mark.parametrize("seconds", [0, 1801, nan])
def test_a_period_is_at_most_half_an_hour(seconds: float) -> None:
    with pytest.raises(SettingError, match="period-seconds"):
        Limit(kind=LimitKind.PODS, value=1, period_seconds=seconds)


@pytest.mark.parametrize("seconds", [-1, 3601, nan])
def test_a_window_is_at_most_an_hour(seconds: float) -> None:
    with pytest.raises(SettingError, match="stabilization-window-seconds"):
        Direction(stabilization_seconds=seconds)
