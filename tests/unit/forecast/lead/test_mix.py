"""Shares follow the losses, and an unknown expert has none."""

import numpy as np
import pytest

from gputide.forecast import Lead
from gputide.forecast.lead.mix import (
    blend_losses,
    known_shares,
    lift_by,
    mix,
    pinball,
    recent_weight,
    shares_of,
    shortfall,
)
from gputide.forecast.lead.plan import Plan

PLAN = Plan(step_seconds=60, lead=Lead(first_step=1, last_step=5))


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)[:, None]


def test_a_lower_loss_counts_more_and_shares_sum_to_one() -> None:
    shares = shares_of(column(1.0, 1.1, 2.0))[:, 0]

    assert shares.sum() == pytest.approx(1)
    assert shares[0] > shares[1] > shares[2]
    assert shares[2] < 0.001


def test_an_unknown_expert_has_no_share() -> None:
    bounds = column(np.nan, 4.0)

    assert mix(bounds, known_shares(bounds, column(1.0, 1.5)))[0] == 4


def test_where_no_expert_is_known_or_judged_the_mixture_is_unknown() -> None:
    unknown = column(np.nan, np.nan)

    assert np.isnan(mix(unknown, known_shares(unknown, column(1, 1)))).all()
    assert np.isnan(mix(column(3, 4), shares_of(column(np.inf, np.inf)))).all()


def test_the_last_hours_turn_the_shares() -> None:
    past, weight = column(1.0, 2.0), column(1.0, 1.0)

    now = blend_losses(past, column(50.0, 0.5), weight, PLAN)

    assert now[0, 0] > now[1, 0]


def test_without_news_the_losses_stay_those_of_past_days() -> None:
    past, nothing = column(1.0, 2.0), column(0.0, 0.0)

    np.testing.assert_array_equal(blend_losses(past, nothing, nothing, PLAN), past)


def test_news_of_a_long_lead_counts_less() -> None:
    far = Plan(step_seconds=60, lead=Lead(first_step=360, last_step=360))

    assert recent_weight(far) < recent_weight(PLAN) / 2


def test_pinball_loss_weighs_misses_by_the_quantile() -> None:
    assert pinball(column(3.0), column(2.0), 0.9) == pytest.approx(0.9)
    assert pinball(column(1.0), column(2.0), 0.9) == pytest.approx(0.1)


def test_raising_by_the_shortfall_reaches_what_came() -> None:
    said, came = column(2.0), column(5.0)

    assert lift_by(said, shortfall(came, said)) == pytest.approx(5.0)


def test_a_bound_that_held_or_is_unknown_fell_short_by_nothing() -> None:
    assert shortfall(column(1.0), column(2.0)) == 0
    assert shortfall(column(np.nan), column(2.0)) == 0
