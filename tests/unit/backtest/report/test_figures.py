from dataclasses import replace

import pytest

from fakes.trace_reports import outcome, refusing_report, trace_report
from gputide.backtest.model import PolicyName, Recommendation
from gputide.backtest.report.figures import (
    advice,
    budget_words,
    harm_words,
    knob_words,
    middle,
    rows,
    saving,
    summary,
)


def test_savings_count_against_the_hpa_tuned_by_the_same_replay() -> None:
    by_policy = {row.outcome.policy: row for row in rows(trace_report())}

    tuned = by_policy[PolicyName.HPA_TUNED]
    assert tuned.is_opponent
    assert tuned.saving_ratio == 0
    assert by_policy[PolicyName.GPUTIDE_TUNED].saving_ratio == pytest.approx(1 - 2376 / 3456)
    assert by_policy[PolicyName.FIXED].saving_ratio == pytest.approx(1 - 4608 / 3456)
    assert by_policy[PolicyName.GPUTIDE_TUNED].is_champion


def test_without_a_tuned_hpa_the_plain_one_is_the_opponent() -> None:
    report = trace_report()
    left = tuple(o for o in report.outcomes if o.policy is not PolicyName.HPA_TUNED)

    opponents = [
        row.outcome.policy for row in rows(replace(report, outcomes=left)) if row.is_opponent
    ]

    assert opponents == [PolicyName.HPA]


def test_without_any_opponent_a_saving_is_unknown() -> None:
    report = replace(trace_report(), outcomes=(outcome(PolicyName.GPUTIDE),))

    (row,) = rows(report)

    assert row.saving_ratio is None
    assert not row.is_fair_saving
    assert summary(report).saving_ratio is None


@pytest.mark.parametrize("cost", [0.0, float("nan"), float("inf")])
def test_an_opponent_without_cost_saves_nothing_known(cost: float) -> None:
    free = replace(outcome(PolicyName.HPA), replica_hours=cost)

    assert saving(outcome(PolicyName.GPUTIDE), free) is None


def test_each_harm_is_judged_against_the_budget() -> None:
    by_policy = {row.outcome.policy: row for row in rows(trace_report())}

    assert by_policy[PolicyName.HPA].is_saturated_over
    assert by_policy[PolicyName.HPA].is_late_over
    assert by_policy[PolicyName.CRANE].is_saturated_over
    assert not by_policy[PolicyName.CRANE].is_late_over
    assert not by_policy[PolicyName.LAST_WEEK].is_saturated_over, "unknown is not over"


def test_a_saving_counts_only_with_known_harm_within_the_budget() -> None:
    fair = {row.outcome.policy for row in rows(trace_report()) if row.is_fair_saving}

    assert fair == {
        PolicyName.HPA_STABILIZED,
        PolicyName.GPUTIDE_ONE_TARGET,
        PolicyName.GPUTIDE_TUNED,
        PolicyName.ORACLE,
    }


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0, "0 %"),
        (0.000001, "<0.001 %"),
        (0.00104, "0.104 %"),
        (0.0139, "1.39 %"),
        (0.249, "24.9 %"),
        (1.0, "100.0 %"),
        (None, "\N{EN DASH}"),
        (float("nan"), "\N{EN DASH}"),
    ],
)
def test_small_harm_has_the_digits_that_tell_it_from_its_budget(
    ratio: float | None, text: str
) -> None:
    assert harm_words(ratio) == text


def test_a_summary_speaks_for_the_best_gputide() -> None:
    line = summary(trace_report())

    assert line.champion is not None
    assert line.champion.outcome.policy is PolicyName.GPUTIDE_TUNED
    assert line.stabilized_saving_ratio == pytest.approx(1 - 2376 / 3024.5)
    assert line.days == pytest.approx(252_000 / 86_400)
    assert line.is_switch
    assert not summary(refusing_report()).is_switch


def test_the_median_leaves_out_what_is_unknown() -> None:
    assert middle([None, 0.1, float("nan"), 0.3, 0.2]) == 0.2
    assert middle([None]) is None


def test_advice_is_said_once_and_in_sentences() -> None:
    report = replace(
        trace_report(),
        recommendation=Recommendation(
            is_switch=False,
            headline="Stay in observer mode: no saving",
            reasons=("no saving", "the load is flat", "Already a sentence."),
        ),
    )

    assert advice(report) == (
        "Stay in observer mode: no saving.",
        ("The load is flat.", "Already a sentence."),
    )


def test_knobs_carry_their_units() -> None:
    knobs = {"net_target_ratio": 0.8, "stabilization_seconds": 300, "replicas": 64}

    assert knob_words(knobs) == "net target 0.8, stabilization 300 s, replicas 64"
    assert budget_words(trace_report()) == "0.1 %"
