"""What a fitted forecaster issues and says of itself; how good the fit is, test_fit tells."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from gputide.errors import SettingError
from gputide.forecast import History, Lead
from gputide.forecast.lead import fit_lead
from gputide.forecast.lead.calibrate import PERSISTENCE_EXPERTS, SEASONAL_EXPERTS
from gputide.forecast.lead.forecaster import (
    CAP_RATIO,
    GATE_RATIO,
    LeadForecaster,
    join_forecasters,
)
from gputide.forecast.model import FloatArray

STEP_SECONDS = 900
DAY = 86_400 // STEP_SECONDS
NOON = DAY // 2
QUANTILES = (0.8, 0.95)
EXPERTS = SEASONAL_EXPERTS + PERSISTENCE_EXPERTS


def office(days: int, *, seed: int = 3, level: float = 1.0) -> FloatArray:
    """Return `[1, T]`: 5 at night, 25 in office hours, 10 % noise, times a level."""
    hour = np.arange(days * DAY) % DAY / DAY * 24
    base = np.where((hour >= 8) & (hour < 18), 25.0, 5.0)
    noise: FloatArray = np.random.default_rng(seed).normal(1, 0.1, days * DAY).clip(0.5)
    return np.asarray(level * (base * noise)[None])


LOAD = office(14)
COMING = office(2, seed=9)


def fit(values: FloatArray) -> LeadForecaster:
    history = History(
        values=values,
        step_seconds=STEP_SECONDS,
        start_local=datetime(2026, 1, 5),  # noqa: DTZ001  a local time has no zone
    )
    return fit_lead(history, lead=Lead(first_step=1, last_step=2), quantiles=QUANTILES)


@pytest.fixture(scope="module")
def fitted() -> LeadForecaster:
    return fit(LOAD)


def newest(fitted: LeadForecaster, steps: int, *, coming: FloatArray = COMING) -> FloatArray:
    """Return what an issue reads so long after the fit."""
    values = np.concatenate([LOAD, coming], axis=1)
    end = LOAD.shape[1] + steps
    return values[:, end - fitted.needed_steps : end]


def with_losses(fitted: LeadForecaster, *, seasonal: float, live: float) -> LeadForecaster:
    """Return it with experts that lost so much in the fit: the third of each kind, the rest 50."""
    loss = np.full((len(QUANTILES), EXPERTS, 1), 50, np.float32)
    loss[:, 2], loss[:, SEASONAL_EXPERTS + 2] = seasonal, live
    return replace(fitted, experts=replace(fitted.experts, loss=loss))


@pytest.mark.parametrize(
    ("seasonal", "live", "gain", "is_seasonal"),
    [
        (0.5, 1.0, 0.5, True),
        (1 - GATE_RATIO - 0.01, 1.0, GATE_RATIO + 0.01, True),
        (1 - GATE_RATIO + 0.01, 1.0, GATE_RATIO - 0.01, False),
        (2.0, 1.0, -1.0, False),
        (0.0, 0.0, 0.0, False),
    ],
)
def test_a_season_leads_where_it_saves_a_tenth_of_the_loss(
    fitted: LeadForecaster, seasonal: float, live: float, gain: float, *, is_seasonal: bool
) -> None:
    found = with_losses(fitted, seasonal=seasonal, live=live)

    assert found.seasonal_gain == pytest.approx(np.full((2, 1), gain), abs=1e-6)
    assert (found.is_seasonal == is_seasonal).all()


@pytest.mark.parametrize(("is_live_judged", "gain"), [(True, -np.inf), (False, 0.0)])
def test_a_season_that_nobody_could_judge_does_not_lead(
    fitted: LeadForecaster,
    is_live_judged: bool,  # noqa: FBT001  a case's own switch
    gain: float,
) -> None:
    loss = np.full((len(QUANTILES), EXPERTS, 1), np.inf, np.float32)
    loss[:, SEASONAL_EXPERTS:] = 1 if is_live_judged else np.inf
    found = replace(fitted, experts=replace(fitted.experts, loss=loss))

    assert (found.seasonal_gain == gain).all()
    assert not found.is_seasonal.any()
    assert (found.seasonal_share == 0).all()


@pytest.mark.parametrize(("seasonal", "live", "share"), [(1, 9, 1), (9, 1, 0), (1, 1, 0.5)])
def test_the_share_of_the_season_follows_the_losses(
    fitted: LeadForecaster, seasonal: float, live: float, share: float
) -> None:
    found = with_losses(fitted, seasonal=seasonal, live=live)

    assert found.seasonal_share == pytest.approx(np.full((2, 1), share), abs=1e-4)


@pytest.mark.parametrize(("seasonal", "live", "row"), [(1, 2, 2), (2, 1, SEASONAL_EXPERTS + 2)])
def test_the_candidate_of_least_loss_leads(
    fitted: LeadForecaster, seasonal: float, live: float, row: int
) -> None:
    found = with_losses(fitted, seasonal=seasonal, live=live)

    assert np.array_equal(found.leaders, fitted.experts.candidate[:, row])


def test_a_span_issues_what_each_of_its_steps_issues(fitted: LeadForecaster) -> None:
    count = DAY
    values = np.concatenate([LOAD, COMING], axis=1)
    span = values[:, LOAD.shape[1] - fitted.needed_steps : LOAD.shape[1] + count - 1]

    upper = fitted.issue_span(span, count=count)

    assert upper.shape == (2, 1, count)
    for steps in (0, 1, NOON, count - 1):
        single = fitted.issue(newest(fitted, steps), steps_since_fit=steps)
        np.testing.assert_allclose(upper[..., steps], single, rtol=1e-5)


def test_unknown_oldest_columns_leave_a_bound_that_is_near(fitted: LeadForecaster) -> None:
    whole = newest(fitted, NOON)
    headless = whole.copy()
    headless[:, : fitted.needed_steps // 2] = np.nan

    upper, plain = (fitted.issue(v, steps_since_fit=NOON) for v in (headless, whole))

    assert upper == pytest.approx(plain, rel=0.3)


@pytest.mark.parametrize("missing", [1, 4, 8])
def test_unknown_newest_columns_leave_a_bound_that_is_near(
    fitted: LeadForecaster, missing: int
) -> None:
    whole = newest(fitted, NOON)
    late = whole.copy()
    late[:, -missing:] = np.nan

    upper, plain = (fitted.issue(v, steps_since_fit=NOON) for v in (late, whole))

    assert upper == pytest.approx(plain, rel=0.3)


def test_the_season_alone_bounds_noon_above_night(fitted: LeadForecaster) -> None:
    nothing = np.full((1, fitted.needed_steps), np.nan)

    night, noon = (fitted.issue(nothing, steps_since_fit=steps) for steps in (8, NOON))

    assert (night < 10).all()
    assert (noon > 25).all()


def test_neither_season_nor_minutes_give_no_bound(fitted: LeadForecaster) -> None:
    unknown = replace(fitted.seasons, envelopes=fitted.seasons.envelopes * np.nan)
    nothing = np.full((1, fitted.needed_steps), np.nan)

    upper = replace(fitted, seasons=unknown).issue(nothing, steps_since_fit=NOON)

    assert np.isnan(upper).all()


def test_a_day_after_the_fit_the_same_hour_has_the_same_season(fitted: LeadForecaster) -> None:
    same = newest(fitted, NOON)

    today, tomorrow = (fitted.issue(same, steps_since_fit=s) for s in (NOON, NOON + DAY))

    np.testing.assert_array_equal(today, tomorrow)


def test_no_bound_is_far_above_all_that_was_seen(fitted: LeadForecaster) -> None:
    high = replace(fitted, lift=np.full_like(fitted.lift, 100))

    upper = high.issue(newest(fitted, NOON), steps_since_fit=NOON)

    week = LOAD[:, -7 * DAY :].max()
    hour = COMING[:, NOON - 4 : NOON].max()
    assert upper == pytest.approx(np.full((2, 1), CAP_RATIO * max(week, hour)), rel=1e-4)


def test_the_last_hour_lifts_the_cap(fitted: LeadForecaster) -> None:
    high = replace(fitted, lift=np.full_like(fitted.lift, 100))
    risen = newest(fitted, NOON)
    risen[:, -2] = 1000

    upper = high.issue(risen, steps_since_fit=NOON)

    assert upper == pytest.approx(np.full((2, 1), CAP_RATIO * 1000), rel=1e-4)


def test_no_bound_is_below_none_nor_below_that_of_a_lower_quantile(
    fitted: LeadForecaster,
) -> None:
    low = replace(fitted, lift=np.array([[0.0], [-5.0]], np.float32))
    below = replace(fitted, lift=np.array([[-5.0], [-5.0]], np.float32))

    upper = low.issue(newest(fitted, NOON), steps_since_fit=NOON)

    assert upper[0, 0] > 20
    assert upper[1, 0] == upper[0, 0]
    assert (below.issue(newest(fitted, NOON), steps_since_fit=NOON) == 0).all()


def test_hours_above_their_bounds_raise_the_next_one(fitted: LeadForecaster) -> None:
    steady = replace(fitted, highest=fitted.highest * 10)  # out of the cap's way
    usual, risen = newest(fitted, NOON), newest(fitted, NOON)
    risen[:, -12:-4] *= 1.5  # three to one hours ago, and as usual since

    upper, plain = (steady.issue(v, steps_since_fit=NOON) for v in (risen, usual))

    assert (upper > 1.05 * plain).all()


def test_joined_parts_issue_what_each_issued(fitted: LeadForecaster) -> None:
    other = fit(office(14, seed=5, level=40))
    joined = join_forecasters([fitted, other])
    values = newest(fitted, NOON)

    both = joined.issue(np.concatenate([values, 40 * values]), steps_since_fit=NOON)

    alone = [
        fitted.issue(values, steps_since_fit=NOON),
        other.issue(40 * values, steps_since_fit=NOON),
    ]
    np.testing.assert_allclose(both, np.concatenate(alone, axis=1), rtol=1e-5)
    assert joined.leaders.shape == joined.seasonal_share.shape == (2, 2)


def test_newest_minutes_of_another_shape_are_refused(fitted: LeadForecaster) -> None:
    needed = fitted.needed_steps

    with pytest.raises(SettingError) as caught:
        fitted.issue(np.ones((2, needed)), steps_since_fit=0)
    assert str(caught.value) == f"newest: must have the shape (1, {needed}), has (2, {needed})"
    with pytest.raises(SettingError) as caught:
        fitted.issue_span(np.ones((1, needed)), count=3)
    assert str(caught.value) == f"newest: must have the shape (1, {needed + 2}), has (1, {needed})"
