from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from gputide.backtest.frame import Frame, frame_of, local_start
from gputide.backtest.model import PolicyName, Trace, Workload
from gputide.backtest.policies.series import DAY_MINUTES
from gputide.backtest.settings import BacktestSettings

STARTED = datetime(2024, 5, 6, 22, 30, tzinfo=UTC)


def trace(days: float) -> Trace:
    demand = np.ones(int(days * DAY_MINUTES))
    return Trace(name="load", demand=demand, start_utc=STARTED, time_zone="Europe/Berlin")


def cut(days: float, **settings: int) -> Frame:
    return frame_of(trace(days), Workload(capacity_per_pod=1), BacktestSettings(**settings))


def in_days(frame: Frame) -> tuple[float, float, float]:
    return frame.start / DAY_MINUTES, frame.first / DAY_MINUTES, frame.end / DAY_MINUTES


@pytest.mark.parametrize(
    ("days", "start", "first"),
    [
        (16, 0, 7),  # all after the history is evaluated, and the history tunes
        (8, 0, 7),
        (50, 19, 29),  # the newest 21 days, tuned by the 10 before each
        (30.5, 0.5, 9.5),
        (8.25, 0, 7),
    ],
)
def test_the_newest_days_after_the_history_are_evaluated(
    days: float, start: float, first: float
) -> None:
    assert in_days(cut(days)) == (start, first, days)


def test_a_short_trace_is_cut_in_half() -> None:
    frame = cut(3)

    assert in_days(frame) == (0.5, 1.5, 3)
    assert frame.is_short
    assert PolicyName.LAST_WEEK not in frame.policies


def test_the_evaluated_span_begins_in_utc() -> None:
    assert cut(8).evaluated_start == datetime(2024, 5, 13, 22, 30, tzinfo=UTC)


def test_seasons_follow_the_local_clock() -> None:
    assert local_start(trace(1)) == datetime(2024, 5, 7, 0, 30)  # noqa: DTZ001  # local on purpose


def test_no_pods_at_all_becomes_one_with_a_warning() -> None:
    frame = frame_of(trace(8), Workload(capacity_per_pod=1, min_replicas=0), BacktestSettings())

    assert any("1 is kept" in text for text in frame.warnings)


def test_demand_is_told_in_fully_busy_pods() -> None:
    what = replace(trace(8), demand=np.full(8 * DAY_MINUTES, 12.0))
    frame = frame_of(what, Workload(capacity_per_pod=4), BacktestSettings())

    assert set(frame.demand.tolist()) == {3.0}
