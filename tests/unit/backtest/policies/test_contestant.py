"""What each contestant decides, asked through the decision that the controller calls too."""

from math import inf, nan

import numpy as np
import pytest

from gputide.backtest.model import PolicyName, Workload
from gputide.backtest.policies.contestant import (
    Contestant,
    crane,
    down,
    fixed,
    hpa,
    one_target,
    oracle,
    repeat,
    row_of,
    two_targets,
)
from gputide.backtest.settings import Metric
from gputide.backtest.simulate import Row
from gputide.scaling import HPA_DOWN, Memory, Policies, Situation, decide

SERIES = {"ours": 4, "last-day": 7}
TWO = two_targets("ours", quantile=0.99, proactive_target_ratio=0.9, net_target_ratio=0.8)


def row(contestant: Contestant, *, metric: Metric = Metric.UTILIZATION, **workload: int) -> Row:
    return row_of(
        contestant,
        load=3,
        series=SERIES,
        workload=Workload(capacity_per_pod=1, **workload),
        metric=metric,
    )


def desired(contestant: Contestant, *demand: float, current: float, upper: float = nan) -> float:
    """Return what is asked for after these needs, one each 15 s."""
    memory, policies = Memory(1), Policies.from_rows([contestant.rule])
    pods = np.array([current])
    for step, need in enumerate(demand):
        situation = Situation(
            now_seconds=15.0 * step,
            current=pods,
            min_replicas=np.array([1.0]),
            max_replicas=np.array([1000.0]),
            is_fresh=np.array([True]),
            is_complete=np.array([True]),
            demand=np.array([need]),
            forecast_upper=np.array([upper]),
        )
        pods = decide(policies, situation, memory).desired
    return float(pods[0])


def test_a_row_reads_its_forecast_and_serves_its_load() -> None:
    found = row(TWO)

    assert (found.series, found.load, found.rule) == (4, 3, TWO.rule)


def test_a_forecast_that_is_not_there_says_nothing() -> None:
    assert row(crane("crane", target_ratio=0.7)).series is None
    assert row(hpa(0.7)).series is None


def test_a_row_keeps_to_the_workloads_bounds_and_at_least_one_pod() -> None:
    bounded = row(hpa(0.7), min_replicas=2, max_replicas=9)

    assert (bounded.min_replicas, bounded.max_replicas) == (2, 9)
    assert row(hpa(0.7), min_replicas=0).min_replicas == 1
    assert bounded.has_windows


def test_a_fixed_size_knows_no_bounds_but_itself() -> None:
    found = row(fixed(12), min_replicas=20, max_replicas=30)

    assert (found.min_replicas, found.max_replicas) == (12, 12)
    assert not found.has_windows


@pytest.mark.parametrize(
    ("metric", "uses_demand"), [(Metric.DEMAND, True), (Metric.UTILIZATION, False)]
)
def test_a_row_scales_on_the_chosen_metric(metric: Metric, *, uses_demand: bool) -> None:
    assert row(hpa(0.7), metric=metric).uses_demand is uses_demand


@pytest.mark.parametrize(
    ("demand", "expected"),
    [
        (7.0, 10),  # at the target
        (7.6, 10),  # within Kubernetes' tolerance of 10 %
        (8.4, 12),  # 8.4 / 0.7
        (100.0, 20),  # at most doubled in 15 s
    ],
)
def test_the_hpa_follows_kubernetes_rule(demand: float, expected: int) -> None:
    assert desired(hpa(0.7), demand, current=10) == expected


def test_the_hpa_ignores_every_forecast() -> None:
    assert desired(hpa(0.7), 7, current=10, upper=100) == 10


@pytest.mark.parametrize(("window", "steps", "expected"), [(300, 19, 10), (300, 20, 5), (0, 1, 5)])
def test_the_stabilization_window_holds_what_was_wanted_in_it(
    window: float, steps: int, expected: int
) -> None:
    contestant = hpa(0.7, stabilization_seconds=window)

    assert desired(contestant, 7, *[3.5] * steps, current=10) == expected


def test_another_window_keeps_kubernetes_limits() -> None:
    assert down(300) == HPA_DOWN
    assert down(900).limits == HPA_DOWN.limits
    assert down(900).stabilization_seconds == 900


def test_the_oracle_runs_exactly_what_comes() -> None:
    contestant = oracle("oracle")

    assert desired(contestant, 1, current=2, upper=100) == 100
    assert desired(contestant, 100, current=100, upper=1.5) == 2


def test_who_repeats_a_day_does_not_look_at_today() -> None:
    contestant = repeat(PolicyName.LAST_DAY, "last-day", target_ratio=0.5)

    assert desired(contestant, 50, current=10, upper=5) == 10
    assert desired(contestant, 0, current=10, upper=8) == 16
    assert contestant.policy is PolicyName.LAST_DAY
    assert row(contestant).series == 7


@pytest.mark.parametrize(
    "contestant",
    [crane("ours", target_ratio=0.8), one_target("ours", quantile=0.99, target_ratio=0.8)],
)
def test_one_target_counts_for_forecast_and_metric(contestant: Contestant) -> None:
    assert desired(contestant, 8, current=10, upper=12) == 15
    assert desired(contestant, 12, current=10, upper=8) == 15
    assert desired(contestant, 12, current=10) == 15


def test_two_targets_fill_pods_higher_by_forecast_than_by_metric() -> None:
    contestant = two_targets(
        "ours", quantile=0.99, proactive_target_ratio=1.0, net_target_ratio=0.5
    )

    assert desired(contestant, 1, current=10, upper=15) == 15
    assert desired(contestant, 7.5, current=10, upper=1) == 15


@pytest.mark.parametrize(("upper", "expected"), [(84, 100), (80, 89)])
def test_two_targets_scale_in_only_past_the_dead_band(upper: float, expected: int) -> None:
    contestant = two_targets(
        "ours",
        quantile=0.99,
        proactive_target_ratio=0.9,
        net_target_ratio=0.8,
        stabilization_seconds=0,
    )

    assert desired(contestant, 1, 1, 1, current=100, upper=upper) == expected


@pytest.mark.parametrize(
    ("contestant", "policy", "knobs"),
    [
        (hpa(0.6), "hpa", {"target_ratio": 0.6, "stabilization_seconds": 300}),
        (fixed(12), "fixed", {"replicas": 12}),
        (oracle("oracle"), "oracle", {}),
        (crane("crane", target_ratio=0.7), "crane", {"target_ratio": 0.7}),
        (
            one_target("ours", quantile=0.99, target_ratio=0.7),
            "gputide-one-target",
            {"quantile": 0.99, "target_ratio": 0.7},
        ),
        (
            TWO,
            "gputide",
            {
                "quantile": 0.99,
                "proactive_target_ratio": 0.9,
                "net_target_ratio": 0.8,
                "stabilization_seconds": 300,
            },
        ),
    ],
)
def test_knobs_tell_what_was_chosen(
    contestant: Contestant, policy: str, knobs: dict[str, float]
) -> None:
    assert contestant.policy == policy
    assert contestant.knobs == knobs


def test_settings_that_behave_alike_are_one_whatever_they_are_called() -> None:
    day = repeat(PolicyName.LAST_DAY, "same", target_ratio=0.7)
    week = repeat(PolicyName.LAST_WEEK, "same", target_ratio=0.7)

    assert day.identity == week.identity


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (fixed(3), fixed(4)),
        (hpa(0.7), hpa(0.8)),
        (hpa(0.7), hpa(0.7, stabilization_seconds=600)),
        (oracle("a"), oracle("b")),
        (crane("a", target_ratio=0.7), hpa(0.7)),
    ],
)
def test_settings_that_differ_in_anything_that_counts_are_two(
    one: Contestant, other: Contestant
) -> None:
    assert one.identity != other.identity


def test_no_forecast_is_capped_and_pods_report_a_share() -> None:
    for contestant in (hpa(0.7), TWO, crane("crane", target_ratio=0.7), oracle("oracle")):
        assert contestant.rule.forecast_cap_ratio == inf
        assert contestant.rule.is_utilization
