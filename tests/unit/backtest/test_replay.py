from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest
from numpy.typing import NDArray

from gputide.backtest.model import Outcome, PolicyName, Trace, TraceReport, Workload
from gputide.backtest.replay import replay, replay_all
from gputide.backtest.settings import BacktestSettings
from gputide.errors import InputError, SettingError

STARTED = datetime(2024, 5, 6, tzinfo=UTC)
DAY_MINUTES = 1440
HOURS_6 = 6 * 60
HOURS_8 = 8 * 60


def day_and_night(minutes: int, *, seed: int = 1) -> NDArray[np.float64]:
    noise = np.random.default_rng(seed).gamma(20, 0.05, minutes)
    wave = 1.2 + np.sin(2 * np.pi * np.arange(minutes) / DAY_MINUTES)
    return 10 * wave * noise


def trace(demand: NDArray[np.float64], **changes: object) -> Trace:
    plain = Trace(name="load", demand=demand, start_utc=STARTED, time_zone="UTC", unit="requests")
    return replace(plain, **changes)  # type: ignore[arg-type]  # a test's choice of fields


def run_all(
    traces: list[Trace], *policies: PolicyName, capacity: float = 1.0, **settings: int
) -> tuple[TraceReport, ...]:
    chosen = BacktestSettings(policies=policies or tuple(PolicyName), **settings)
    return replay_all(traces, [Workload(capacity_per_pod=capacity)] * len(traces), chosen)


def run(what: Trace, *policies: PolicyName, capacity: float = 1.0, **settings: int) -> TraceReport:
    return run_all([what], *policies, capacity=capacity, **settings)[0]


@pytest.fixture(scope="module")
def report() -> TraceReport:
    """Return two days, one of them evaluated, under every policy."""
    return run(trace(day_and_night(2 * DAY_MINUTES)), history_days=1, evaluated_days=1)


def test_every_policy_has_its_row_in_the_tables_order(report: TraceReport) -> None:
    names = [name for name in PolicyName if name is not PolicyName.LAST_WEEK]

    assert [outcome.policy for outcome in report.outcomes] == names


def test_the_oracle_is_never_saturated_and_cheapest_of_those(report: TraceReport) -> None:
    unharmed = [o for o in report.outcomes if o.saturated_ratio == 0]
    oracle = report.outcomes[-1]

    assert oracle.saturated_ratio == oracle.lost_ratio == oracle.late_ratio == 0
    assert min(unharmed, key=lambda o: o.replica_hours).policy is PolicyName.ORACLE


def test_a_fixed_size_costs_its_pods_times_the_evaluated_hours(report: TraceReport) -> None:
    outcome = report.outcomes[0]

    assert outcome.replica_hours == outcome.knobs["replicas"] * 24
    assert outcome.evaluated_seconds == 86_400


def test_a_curve_runs_from_the_dearest_to_the_cheapest(report: TraceReport) -> None:
    for curve in report.curves.values():
        costs = [outcome.replica_hours for outcome in curve]
        harms = [outcome.saturated_ratio for outcome in curve]
        assert costs == sorted(costs, reverse=True)
        assert harms == sorted(harms)


def test_the_timeline_shows_the_evaluated_span_in_the_traces_unit(report: TraceReport) -> None:
    timeline = report.timeline

    assert timeline.start_utc == datetime(2024, 5, 7, tzinfo=UTC)
    assert np.array_equal(timeline.demand, report.trace.demand[DAY_MINUTES:])
    assert {len(pods) for pods in timeline.replicas.values()} == {DAY_MINUTES}
    assert set(timeline.replicas) == {outcome.policy for outcome in report.outcomes}


def test_capacity_only_changes_the_unit() -> None:
    demand = day_and_night(HOURS_8)
    pods = run(trace(demand), PolicyName.HPA, PolicyName.GPUTIDE)
    requests = run(trace(8 * demand), PolicyName.HPA, PolicyName.GPUTIDE, capacity=8)

    for one, other in zip(pods.outcomes, requests.outcomes, strict=True):
        assert one.replica_hours == pytest.approx(other.replica_hours, rel=1e-3)


def test_no_policy_but_the_oracle_looks_ahead() -> None:
    demand = day_and_night(2 * DAY_MINUTES)
    cut = int(1.6 * DAY_MINUTES)
    other = demand.copy()
    other[cut:] = 77.0
    names = (
        PolicyName.HPA,
        PolicyName.CRANE,
        PolicyName.LAST_DAY,
        PolicyName.GPUTIDE_ONE_TARGET,
        PolicyName.GPUTIDE,
    )
    before, after = run_all(
        [trace(demand), trace(other)], *names, history_days=1, evaluated_days=1, tuning_days=1
    )
    known = cut - DAY_MINUTES + 1  # a minute's first decision is made before its demand

    for name in names:
        pods = [r.timeline.replicas[name] for r in (before, after)]
        assert np.array_equal(pods[0][:known], pods[1][:known]), name
    upper = [r.timeline.forecast_upper[:known] for r in (before, after)]
    assert np.array_equal(upper[0], upper[1], equal_nan=True)


def test_tuned_policies_choose_from_earlier_days_alone() -> None:
    demand = day_and_night(2 * DAY_MINUTES + 60)
    other = demand.copy()
    other[2 * DAY_MINUTES :] *= 5
    runs = run_all(
        [trace(demand), trace(other)],
        PolicyName.HPA_TUNED,
        history_days=1,
        evaluated_days=2,
        tuning_days=1,
    )
    first_day = [r.timeline.replicas[PolicyName.HPA_TUNED][:DAY_MINUTES] for r in runs]

    assert np.array_equal(first_day[0], first_day[1])
    # Both choose for the last day by the day before it, which is the same.
    assert runs[0].outcomes[0].knobs == runs[1].outcomes[0].knobs
    assert runs[0].outcomes[0].is_walk_forward


def figures(outcome: Outcome) -> list[float]:
    values = (getattr(outcome, field.name) for field in fields(outcome))
    return [value for value in values if isinstance(value, float)]


def test_side_by_side_traces_run_as_each_alone() -> None:
    gap = day_and_night(HOURS_8, seed=2)
    gap[300:330] = np.nan
    traces = [trace(day_and_night(HOURS_8)), trace(gap), trace(day_and_night(HOURS_6, seed=3))]
    names = (PolicyName.HPA, PolicyName.GPUTIDE, PolicyName.ORACLE)
    together = run_all(traces, *names)

    for one, found in zip(traces, together, strict=True):
        alone = run(one, *names)
        for name in names:
            pods = [report.timeline.replicas[name] for report in (alone, found)]
            assert np.array_equal(*pods)
        for mine, theirs in zip(alone.outcomes, found.outcomes, strict=True):
            # Sums in another order may differ in their last digit.
            assert figures(mine) == pytest.approx(figures(theirs))


def test_traces_with_different_start_delays_do_not_run_side_by_side() -> None:
    workloads = [Workload(capacity_per_pod=1, start_delay_seconds=s) for s in (60, 180)]

    with pytest.raises(SettingError, match="start-delay-seconds"):
        replay_all([trace(day_and_night(HOURS_6))] * 2, workloads, BacktestSettings())


def test_unknown_minutes_are_held_and_told() -> None:
    demand = day_and_night(HOURS_8)
    demand[300:360] = np.nan
    found = run(trace(demand), PolicyName.HPA)
    pods = found.timeline.replicas[PolicyName.HPA][300 - HOURS_8 // 2 :]

    assert len(set(pods[2:60].tolist())) == 1
    assert found.outcomes[0].evaluated_seconds == (HOURS_8 // 2 - 60) * 60
    assert any("60 of 240 evaluated minutes are unknown" in text for text in found.warnings)


def test_a_short_history_is_replayed_with_a_warning() -> None:
    found = run(trace(day_and_night(HOURS_8)), PolicyName.HPA, PolicyName.GPUTIDE)

    assert any("0.3 days of history are too few" in text for text in found.warnings)
    assert not found.recommendation.is_switch


def test_a_policy_without_the_past_that_it_repeats_is_left_out_and_named() -> None:
    found = run(trace(day_and_night(HOURS_8)), PolicyName.LAST_WEEK, PolicyName.ORACLE)

    assert [outcome.policy for outcome in found.outcomes] == [PolicyName.ORACLE]
    assert "too short a history to repeat: without last-week" in found.warnings


def test_a_trace_too_short_for_every_policy_is_refused() -> None:
    with pytest.raises(InputError, match="load: is too short for every policy"):
        run(trace(day_and_night(HOURS_8)), PolicyName.LAST_DAY)


def test_progress_ends_at_one() -> None:
    shares: list[float] = []
    replay(
        trace(day_and_night(HOURS_8)),
        Workload(capacity_per_pod=1),
        BacktestSettings(policies=(PolicyName.HPA,)),
        on_progress=shares.append,
    )

    assert shares == sorted(shares)
    assert shares[-1] == 1


def test_an_idle_workload_keeps_its_minimum() -> None:
    found = run(trace(np.zeros(HOURS_8)), PolicyName.HPA, PolicyName.GPUTIDE, PolicyName.ORACLE)

    assert [round(o.replica_hours) for o in found.outcomes] == [4, 4, 4]


def test_a_trace_without_a_value_is_refused() -> None:
    with pytest.raises(InputError, match=r"load: .*unknown"):
        run(trace(np.full(HOURS_8, np.nan)), PolicyName.HPA)


def test_a_trace_of_minutes_is_refused_below_two_hours() -> None:
    with pytest.raises(InputError, match="load: 30 minutes"):
        run(trace(np.ones(30)), PolicyName.HPA)


def test_another_grid_than_minutes_is_refused() -> None:
    with pytest.raises(InputError, match="steps of 300 s"):
        run(trace(np.ones(HOURS_8), step_seconds=300), PolicyName.HPA)


def test_an_unknown_zone_is_named() -> None:
    with pytest.raises(SettingError, match="time-zone: 'Mars/Olympus'"):
        run(trace(np.ones(HOURS_8), time_zone="Mars/Olympus"), PolicyName.HPA)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("capacity_per_pod", 0.0),
        ("start_delay_seconds", -1.0),
        ("min_replicas", -1),
        ("max_replicas", 0),
    ],
)
def test_a_workload_that_makes_no_sense_is_refused(field: str, value: float) -> None:
    workload = replace(Workload(capacity_per_pod=1), **{field: value})  # type: ignore[arg-type]  # wrong on purpose

    with pytest.raises(SettingError) as caught:
        replay(trace(np.ones(HOURS_8)), workload, BacktestSettings())
    assert caught.value.setting == field.replace("_", "-")
