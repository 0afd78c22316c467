"""The maximum of past days holds a bound up while a week of judged days is not there yet."""

from datetime import datetime

import numpy as np
import pytest

from gputide.forecast import History, Lead
from gputide.forecast.lead import fit_lead, replay_lead
from gputide.forecast.lead.forecaster import LeadForecaster
from gputide.forecast.lead.guard import raise_to_days
from gputide.forecast.model import FloatArray

STEP_SECONDS = 900
DAY = 86_400 // STEP_SECONDS
SIX_HOURS = Lead(first_step=24, last_step=24)
NEXT_STEP = Lead(first_step=1, last_step=1)


def history_of(values: FloatArray) -> History:
    return History(
        values=values,
        step_seconds=STEP_SECONDS,
        start_local=datetime(2026, 1, 5),  # noqa: DTZ001  a local time has no zone
    )


def fit(values: FloatArray, lead: Lead = SIX_HOURS) -> LeadForecaster:
    return fit_lead(history_of(values), lead=lead, quantiles=(0.8, 0.95))


def office_week(days: int, *, weekend: float = 0.7, seed: int = 3) -> FloatArray:
    """Return `[1, T]` from a Monday on: a wave of 5 to 25, less of it on weekends."""
    steps = np.arange(days * DAY)
    wave = 15 - 10 * np.cos(2 * np.pi * steps / DAY)
    wave[steps // DAY % 7 >= 5] *= weekend
    return (wave * np.random.default_rng(seed).normal(1, 0.05, len(steps)))[None]


def test_a_bound_is_raised_by_its_share_and_never_lowered() -> None:
    mixture = np.array([4, 4, 4, np.nan], dtype=np.float32)
    highest = np.array([8, 2, np.nan, 8], dtype=np.float32)

    raised = raise_to_days(mixture, highest, np.full(4, 0.25, dtype=np.float32))

    assert raised == pytest.approx([5, 4, 4, np.nan], nan_ok=True)


def test_the_guard_goes_as_days_are_judged_on_a_full_week() -> None:
    shares = [fit(office_week(days, weekend=1)).guard.max() for days in (7, 10, 14)]

    assert shares[0] > shares[1] > shares[2] == 0


def test_a_lost_day_makes_a_history_no_younger() -> None:
    values = office_week(14)
    values[:, 3 * DAY : 4 * DAY] = np.nan

    assert fit(values).guard.max() == 0


def test_a_short_lead_needs_hardly_any_guard() -> None:
    values = office_week(7)

    assert 0 < fit(values, NEXT_STEP).guard.max() < 0.05 < fit(values).guard.max()


def test_a_history_too_short_for_a_maximum_of_days_has_no_guard() -> None:
    assert fit(office_week(2)).guard == pytest.approx(np.zeros((2, 1)))


def test_the_maximum_of_days_holds_nothing_up_where_it_is_far_off() -> None:
    falling = office_week(7, weekend=1) * np.exp(-0.9 * np.arange(7 * DAY) / DAY)

    assert fit(falling).guard.max() < 0.2 * fit(office_week(7)).guard.max()


def test_the_first_monday_after_a_week_of_history_is_covered() -> None:
    values = office_week(8)

    upper = replay_lead(
        history_of(values),
        lead=SIX_HOURS,
        quantiles=(0.95,),
        first_step=7 * DAY - 23,
        refit_steps=DAY,
    )[0, 0]

    # Issued from Sunday 18:15 on, each bounds the step six hours ahead: those of Monday.
    monday = values[0, 7 * DAY :]
    covered = (monday <= upper[:DAY]).mean()
    assert covered > 0.8
