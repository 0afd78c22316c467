from datetime import UTC, datetime
from math import ceil

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.model import Workload
from gputide.backtest.policies import contestant
from gputide.backtest.policies.contestant import Contestant, row_of
from gputide.backtest.policies.series import ORACLE, naive_series
from gputide.backtest.settings import Metric
from gputide.backtest.simulate import STEP_SECONDS, STEPS_PER_MINUTE, Fleet, Load, Rules, Span

STARTED = datetime(2024, 5, 6, tzinfo=UTC)
WORKLOAD = Workload(capacity_per_pod=1)
FORECAST = "forecast"


def rules(*contestants: Contestant, metric: Metric = Metric.UTILIZATION) -> Rules:
    series = {FORECAST: 0}
    return Rules(
        [row_of(c, load=0, series=series, workload=WORKLOAD, metric=metric) for c in contestants]
    )


def load(demand: list[float], forecast: list[float] | None = None) -> Load:
    uppers = np.array([forecast if forecast is not None else [np.nan] * len(demand)])
    return Load(demand=np.array([demand]), uppers=uppers)


def run(rows: Rules, what: Load, *, replicas: float = 20, start_delay_seconds: float = 180) -> Span:
    start = np.full(rows.size, replicas)
    fleet = Fleet.start(start, start_delay_seconds=start_delay_seconds)
    return fleet.run(rows, what)


def gputide(quantile: float = 0.99) -> Contestant:
    return contestant.two_targets(
        FORECAST, quantile=quantile, proactive_target_ratio=0.9, net_target_ratio=0.8
    )


@pytest.mark.parametrize(("demand", "replicas"), [(15.3, 20), (15.5, 23)])
def test_the_hpa_leaves_a_rise_within_its_tolerance_alone(demand: float, replicas: int) -> None:
    span = run(rules(contestant.hpa(0.7)), load([14.0] * 5 + [demand] * 10))

    assert span.asked[-1, 0] == replicas


def test_a_jump_takes_the_hpa_on_utilization_four_starts_of_pods() -> None:
    jump = 10
    span = run(rules(contestant.hpa(0.7)), load([14.0] * jump + [60.0] * 25))
    asked, ready = span.asked[:, 0], span.ready[:, 0]
    too_few = np.flatnonzero(ready < 60)

    # Utilization is blind above 100 %: each start of pods brings only 1 / target as many.
    assert [count for count in (20, 27, 39, 56, 80) if count in asked] == [20, 27, 39, 56, 80]
    assert 12 <= (too_few[-1] + 1) / STEPS_PER_MINUTE - jump <= 13


def test_a_jump_takes_the_hpa_on_demand_one_start_of_pods() -> None:
    jump = 10
    rows = rules(contestant.hpa(0.7), metric=Metric.DEMAND)
    span = run(rows, load([14.0] * jump + [60.0] * 25))
    too_few = np.flatnonzero(span.ready[:, 0] < 60)

    assert 3 <= (too_few[-1] + 1) / STEPS_PER_MINUTE - jump <= 4


@pytest.mark.parametrize(("delay", "steps"), [(0, 0), (15, 1), (100, 7), (180, 12)])
def test_pods_serve_exactly_one_start_delay_after_they_were_asked_for(
    delay: float, steps: int
) -> None:
    forecast = [10.0] * 5 + [18.0] * 10
    span = run(
        rules(contestant.oracle(FORECAST)),
        load([9.0] * 15, forecast),
        replicas=10,
        start_delay_seconds=delay,
    )
    asked_at = int(np.flatnonzero(span.asked[:, 0] == 18)[0])

    assert asked_at == 5 * STEPS_PER_MINUTE
    assert int(np.flatnonzero(span.ready[:, 0] == 18)[0]) == asked_at + steps


def test_the_newest_pods_go_first() -> None:
    forecast = [10.0] * 2 + [20.0] * 2 + [12.0] * 2 + [20.0] * 6
    span = run(rules(contestant.oracle(FORECAST)), load([5.0] * 12, forecast), replicas=10)
    ready = span.ready[:, 0]

    # Two of the ten that were asked for at minute 2 outlive the cut and serve from minute 5 on;
    # the eight that were cut and asked for anew at minute 6 serve from minute 9 on.
    assert ready[:: 4 * 1].tolist()[:12] == [10, 10, 10, 10, 10, 12, 12, 12, 12, 20, 20, 20]


def test_unknown_demand_holds() -> None:
    nan = float("nan")
    both = (contestant.hpa(0.7), gputide())
    span = run(rules(*both), load([14.0] * 5 + [nan] * 30, [14.0] * 35))

    held = span.asked[6 * STEPS_PER_MINUTE :]
    assert (held == span.asked[5 * STEPS_PER_MINUTE]).all()


def test_a_forecast_scales_out_while_demand_is_unknown() -> None:
    nan = float("nan")
    span = run(rules(gputide()), load([14.0] * 5 + [nan] * 10, [14.0] * 10 + [45.0] * 5))

    assert span.asked[-1, 0] == 50


demands = st.lists(st.floats(0, 80), min_size=4, max_size=10)
SEVERAL = (
    contestant.hpa(0.3),
    contestant.hpa(0.8, stabilization_seconds=900),
    gputide(),
    contestant.crane(FORECAST, target_ratio=0.6),
    contestant.fixed(7),
    contestant.oracle(FORECAST),
)


@settings(max_examples=15, deadline=None)
@given(demand=demands)
def test_many_rows_at_once_run_as_each_alone(demand: list[float]) -> None:
    what = load(demand, [1.2 * d for d in demand])
    together = run(rules(*SEVERAL), what)

    for row, one in enumerate(SEVERAL):
        alone = run(rules(one), what)
        assert (alone.asked[:, 0] == together.asked[:, row]).all()
        assert (alone.ready[:, 0] == together.ready[:, row]).all()


@settings(max_examples=15, deadline=None)
@given(demand=demands, cut=st.integers(1, 3))
def test_a_span_cut_in_two_runs_as_the_whole(demand: list[float], cut: int) -> None:
    rows = rules(*SEVERAL)
    whole = run(rows, load(demand, demand))
    fleet = Fleet.start(np.full(len(SEVERAL), 20.0), start_delay_seconds=180)
    parts = [fleet.run(rows, load(d, d)) for d in (demand[:cut], demand[cut:])]

    assert (np.concatenate([part.asked for part in parts]) == whole.asked).all()


@settings(max_examples=20, deadline=None)
@given(
    demand=st.lists(st.floats(0, 200), min_size=8, max_size=20),
    delay=st.sampled_from([0, 15, 60, 90, 180, 240]),
)
def test_the_oracle_is_never_saturated_once_its_first_pods_have_started(
    demand: list[float], delay: float
) -> None:
    coming = naive_series(np.array(demand), start_delay_seconds=delay)
    oracle = coming.values[coming.names.index(ORACLE)]
    what = load(demand, oracle.tolist())
    span = run(rules(contestant.oracle(FORECAST)), what, start_delay_seconds=delay)
    started = ceil(delay / STEP_SECONDS)

    held = np.repeat(np.array(demand), STEPS_PER_MINUTE)
    assert (span.ready[started:, 0] >= held[started:]).all()


@settings(max_examples=10, deadline=None)
@given(demand=demands, cut=st.integers(1, 3))
def test_rows_that_are_left_run_on_as_if_the_others_were_there(
    demand: list[float], cut: int
) -> None:
    whole = run(rules(*SEVERAL), load(demand, demand))
    fleet = Fleet.start(np.full(len(SEVERAL), 20.0), start_delay_seconds=180)
    fleet.run(rules(*SEVERAL), load(demand[:cut], demand[:cut]))
    left = fleet.select(np.array([1, 2]))
    rest = left.run(rules(*SEVERAL[1:3]), load(demand[cut:], demand[cut:]))

    assert (rest.asked == whole.asked[STEPS_PER_MINUTE * cut :, 1:3]).all()


@settings(max_examples=15, deadline=None)
@given(demand=demands)
def test_never_more_pods_serve_than_are_asked_for(demand: list[float]) -> None:
    span = run(rules(*SEVERAL), load(demand, demand))

    assert (span.ready <= span.asked).all()


def test_windows_in_time_bound_every_rule_but_a_fixed_size() -> None:
    nothing = [np.nan] * 10
    windows = Load(
        demand=np.full((1, 30), 14.0),
        uppers=np.full((1, 30), np.nan),
        min_replicas=np.array([nothing + [50.0] * 10 + [0.0] * 10]),
        max_replicas=np.array([nothing + [60.0] * 10 + [7.0] * 10]),
    )

    span = run(rules(contestant.hpa(0.7), contestant.fixed(20)), windows)

    by_minute = span.asked[STEPS_PER_MINUTE - 1 :: STEPS_PER_MINUTE]
    assert by_minute[[9, 19, 29], 0].tolist() == [20, 50, 7]
    assert set(by_minute[:, 1]) == {20}
