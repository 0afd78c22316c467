import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from gputide.backtest.ledger import Meter, queue
from gputide.backtest.simulate import STEPS_PER_MINUTE, Span


def span(ready: list[float], asked: list[float] | None = None) -> Span:
    """Return one row, given by the minute."""
    served = np.repeat(np.array(ready, float), STEPS_PER_MINUTE)[:, np.newaxis]
    paid = np.repeat(np.array(asked or ready, float), STEPS_PER_MINUTE)[:, np.newaxis]
    return Span(asked=paid, ready=served)


def meter(asked: float = 10) -> Meter:
    return Meter(np.array([asked]), queue_limit_seconds=10)


def test_a_fixed_size_costs_its_pods_times_the_hours() -> None:
    ledger = meter().measure(np.full(90, 4.0), span([10.0] * 90))

    assert ledger.replica_hours.tolist() == [15.0]
    assert ledger.changes.tolist() == [0.0]


def test_pods_cost_while_they_start() -> None:
    ledger = meter().measure(np.full(60, 4.0), span([10.0] * 60, asked=[12.0] * 60))

    assert ledger.replica_hours.tolist() == [12.0]
    assert ledger.pods_started.tolist() == [2.0]
    assert ledger.changes.tolist() == [1.0]


def test_a_minute_is_saturated_by_any_moment_above_capacity() -> None:
    what = Span(
        asked=np.full((8, 1), 10.0), ready=np.array([[10], [10], [9], [10], [10], [10], [10], [10]])
    )
    ledger = meter().measure(np.array([9.5, 10.0]), what)

    assert ledger.saturated_minutes.tolist() == [1.0]
    assert ledger.minutes_above_95.tolist() == [2.0]
    assert ledger.lost.tolist() == [0.5]


def test_unknown_minutes_count_neither_as_cost_nor_as_harm() -> None:
    demand = np.array([5.0, np.nan, np.nan, 20.0])
    ledger = meter().measure(demand, span([10.0] * 4))

    assert ledger.known_minutes.tolist() == [2.0]
    assert ledger.saturated_minutes.tolist() == [1.0]
    assert ledger.replica_hours.tolist() == [pytest.approx(10 * 2 / 60)]


def test_what_waits_within_the_limit_is_not_late() -> None:
    # 11 against 10 for a minute: the queue grows to 4 pod steps, 6 s of work for ten pods.
    assert meter().measure(np.array([11.0]), span([10.0])).late.tolist() == [0.0]


def test_what_arrives_behind_a_long_queue_is_late_until_it_is_drained() -> None:
    # 20 against 10: behind 10 s of work after 10 s, so 50 s of the minute's arrivals are late; then
    # 60 s of work are drained at half speed: late until 10 s of it are left, after 100 s.
    ledger = meter().measure(np.array([20.0, 5.0, 5.0, 5.0]), span([10.0] * 4))

    assert ledger.late[0] * 15 == pytest.approx(20 * 50 + 5 * 100)


@settings(max_examples=50, deadline=None)
@given(
    st.lists(st.tuples(st.floats(0, 50), st.floats(1, 50)), min_size=1, max_size=40),
    st.floats(0, 100),
)
def test_what_arrives_is_served_or_waits(steps: list[tuple[float, float]], waiting: float) -> None:
    load, ready = np.array(steps).T[:, :, np.newaxis]
    after = queue(load - ready, np.array([waiting]))
    before = np.concatenate([[[waiting]], after[:-1]])
    served = np.minimum(ready, before + load)

    assert (after >= 0).all()
    assert load.sum() + waiting == pytest.approx(served.sum() + after[-1, 0], abs=1e-6)


@settings(max_examples=50, deadline=None)
@given(demand=st.lists(st.floats(0, 30), min_size=2, max_size=8), cut=st.integers(1, 7))
def test_a_span_measured_in_two_parts_sums_to_the_whole(demand: list[float], cut: int) -> None:
    ready = [10.0 + 3 * (minute % 3) for minute in range(len(demand))]
    whole = meter().measure(np.array(demand), span(ready))
    parts = meter()

    def measure(part: slice) -> NDArray[np.float64]:
        if not demand[part]:
            return np.zeros(3)
        ledger = parts.measure(np.array(demand[part]), span(ready[part]))
        return np.array([ledger.late[0], ledger.pods_started[0], ledger.lost[0]])

    total = measure(slice(0, cut)) + measure(slice(cut, None))
    assert total == pytest.approx([whole.late[0], whole.pods_started[0], whole.lost[0]])
