from datetime import UTC, datetime

import numpy as np
import pytest

from gputide.backtest.model import FloatArray, Trace
from gputide.backtest.sizing import PodSettings, size
from gputide.errors import InputError, SettingError


def trace_of(demand: FloatArray) -> Trace:
    return Trace(
        name="load", demand=demand, start_utc=datetime(2026, 1, 1, tzinfo=UTC), time_zone="UTC"
    )


LOAD = trace_of(np.array([10.0, np.nan, 30.0]))


def test_a_known_capacity_is_taken_without_a_word() -> None:
    sized = size(LOAD, PodSettings(capacity_per_pod=2.5))

    assert sized.workload.capacity_per_pod == 2.5
    assert sized.warnings == ()


def test_wished_pods_size_them_by_the_mean_of_the_known_load() -> None:
    sized = size(LOAD, PodSettings(mean_pods=4))

    assert sized.workload.capacity_per_pod == 5
    assert sized.warnings == ()


def test_an_assumed_capacity_is_said() -> None:
    sized = size(LOAD, PodSettings())

    assert sized.workload.capacity_per_pod == 1
    assert "1 is assumed, so that the mean load fills 20 pods" in sized.warnings[0]


@pytest.mark.parametrize("demand", [[0.0, 0.0], [np.nan, np.nan]])
def test_a_load_without_a_mean_cannot_size_pods(demand: list[float]) -> None:
    with pytest.raises(InputError, match="load: has no load"):
        size(trace_of(np.array(demand)), PodSettings())


def test_the_other_settings_reach_the_workload() -> None:
    settings = PodSettings(
        capacity_per_pod=1,
        start_delay_seconds=60,
        min_replicas=2,
        max_replicas=9,
        late_after_seconds=5,
    )

    workload = size(LOAD, settings).workload

    assert workload.start_delay_seconds == 60
    assert (workload.min_replicas, workload.max_replicas) == (2, 9)
    assert workload.initial_queue_limit_seconds == 5


@pytest.mark.parametrize(
    ("settings", "setting"),
    [
        ({"capacity_per_pod": 0}, "capacity-per-pod"),
        ({"capacity_per_pod": float("inf")}, "capacity-per-pod"),
        ({"mean_pods": float("nan")}, "mean-pods"),
        ({"mean_pods": 1, "capacity_per_pod": 1}, "mean-pods"),
        ({"start_delay_seconds": -1}, "start-delay-seconds"),
        ({"late_after_seconds": float("nan")}, "late-after-seconds"),
        ({"min_replicas": -1}, "min-replicas"),
        ({"max_replicas": 0}, "max-replicas"),
        ({"min_replicas": 3, "max_replicas": 2}, "max-replicas"),
    ],
)
def test_a_setting_that_cannot_be_is_named(settings: dict[str, float], setting: str) -> None:
    with pytest.raises(SettingError) as caught:
        PodSettings(**settings)  # type: ignore[arg-type]  # the names vary

    assert caught.value.setting == setting
