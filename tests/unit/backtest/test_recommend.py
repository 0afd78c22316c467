from dataclasses import replace

import pytest

from gputide.backtest.model import Outcome, PolicyName
from gputide.backtest.recommend import Evidence, recommend

KNOBS = {
    "quantile": 0.99,
    "proactive_target_ratio": 0.9,
    "net_target_ratio": 0.8,
    "stabilization_seconds": 900.0,
}


def outcome(policy: PolicyName, replicas: float, saturated_ratio: float) -> Outcome:
    return Outcome(
        policy=policy,
        knobs=KNOBS if "gputide" in policy else {"target_ratio": 0.4},
        is_walk_forward=True,
        replica_hours=replicas * 24,
        saturated_ratio=saturated_ratio,
        late_ratio=0.0002,
        lost_ratio=0,
        changes_per_day=1,
        pods_started_per_day=1,
        evaluated_seconds=86_400,
    )


def evidence(
    ours: tuple[float, float] = (60, 0.0009),
    hpa: tuple[float, float] = (100, 0.001),
    stabilized: tuple[float, float] = (80, 0.0012),
) -> Evidence:
    """Return nine good days; pairs are (pods, saturated share)."""
    return Evidence(
        outcomes=(
            outcome(PolicyName.HPA_TUNED, *hpa),
            outcome(PolicyName.HPA_STABILIZED, *stabilized),
            outcome(PolicyName.GPUTIDE_TUNED, *ours),
        ),
        budget_ratio=0.001,
        quantile=0.99,
        coverage_ratio=0.991,
        seasonal_share=0.8,
        censored_ratio=0,
        evaluated_days=9,
        is_short=False,
    )


def test_a_saving_at_equal_harm_is_a_reason_to_switch() -> None:
    found = recommend(evidence())

    assert found.is_switch
    assert found.knobs == KNOBS
    assert found.headline == (
        "Switch to auto: 25 % fewer replica-hours than an HPA tuned over target and stabilization, "
        "at 0.09 % saturated minutes against 0.12 %"
    )
    assert "Against an HPA tuned by the same replay: 40.0 % fewer replica-hours" in " ".join(
        found.reasons
    )


def test_a_policy_that_costs_more_says_so() -> None:
    reasons = " ".join(recommend(evidence(hpa=(30, 0.03))).reasons)

    assert "tuned by the same replay: 100.0 % more replica-hours" in reasons


def test_the_settings_are_named() -> None:
    assert recommend(evidence()).reasons[-1] == (
        "Settings, chosen by the replay of the last days: quantile 0.99, target of the forecast "
        "0.9, target of the reactive net 0.8, stabilization 900 s."
    )


@pytest.mark.parametrize(
    ("what", "words"),
    [
        (evidence(ours=(80, 0.001)), "a tie goes to what runs already"),
        (evidence(ours=(90, 0.001)), "costs 12.5 % less"),
        (evidence(ours=(40, 0.005)), "0.5 % of the minutes were saturated, budget 0.1 %"),
        (replace(evidence(), is_short=True, evaluated_days=0.5), "only 0.5 days"),
        (
            replace(evidence(), censored_ratio=0.05),
            "in 5 % of the minutes the metric was saturated",
        ),
    ],
)
def test_an_obstacle_keeps_observer_mode_and_is_named(what: Evidence, words: str) -> None:
    found = recommend(what)

    assert not found.is_switch
    assert found.headline.startswith("Stay in observer mode: ")
    assert words in found.headline
    assert not found.knobs


def test_an_hpa_that_hurts_far_more_is_no_rival() -> None:
    found = recommend(evidence(hpa=(20, 0.05), stabilized=(30, 0.02)))

    assert found.is_switch
    assert "no HPA came near the harm budget" in found.headline


def test_a_plain_hpa_beyond_the_budget_is_no_rival() -> None:
    plain = replace(outcome(PolicyName.HPA, 30, 0.003), is_walk_forward=False)
    what = evidence()
    found = recommend(replace(what, outcomes=(plain, *what.outcomes)))

    assert "25 % fewer replica-hours than an HPA tuned over target" in found.headline


def test_a_load_without_a_period_is_told() -> None:
    found = recommend(replace(evidence(), seasonal_share=0.1))

    assert any("The load is not periodic: 10 %" in reason for reason in found.reasons)


def test_a_replay_that_ends_on_the_plain_hpa_keeps_observer_mode() -> None:
    what = evidence()
    plain = replace(what.outcomes[-1], knobs={"target_ratio": 0.5, "stabilization_seconds": 300})
    found = recommend(replace(what, outcomes=(*what.outcomes[:-1], plain)))

    assert not found.is_switch
    assert "the replay prefers the plain HPA by now, target 0.5, stabilization 300 s" in (
        found.headline
    )


def test_without_a_gputide_policy_there_is_nothing_to_recommend() -> None:
    what = evidence()

    assert not recommend(replace(what, outcomes=what.outcomes[:-1])).is_switch
