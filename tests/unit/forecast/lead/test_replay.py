"""Replaying gives what fitting and issuing step by step gives, and never looks ahead."""

from dataclasses import replace
from datetime import datetime

import numpy as np
import pytest

from gputide.errors import SettingError
from gputide.forecast import History, Lead
from gputide.forecast.lead import fit_lead, replay_lead
from gputide.forecast.model import FloatArray

START = datetime(2026, 1, 5)  # noqa: DTZ001  a local time has no zone
QUANTILES = (0.9, 0.99)


def daily_load(days: int, *, step_seconds: int = 900, seed: int = 7) -> FloatArray:
    """Return `[2, T]`: a noisy day of work, and a random walk."""
    rng = np.random.default_rng(seed)
    steps = 86_400 // step_seconds
    hour = np.arange(days * steps) % steps / steps * 24
    work = 5 + 20 * np.exp(-(((hour - 13) / 4) ** 2)) + rng.gamma(2, 1, days * steps)
    walk = np.exp(np.cumsum(rng.normal(0, 0.05, days * steps)) % 3)
    return np.stack([work, walk])


def history_of(values: FloatArray, *, step_seconds: int = 900) -> History:
    return History(values=values, step_seconds=step_seconds, start_local=START)


@pytest.mark.parametrize(
    "lead", [Lead(first_step=1, last_step=4), Lead(first_step=24, last_step=24)]
)
def test_a_replay_equals_fitting_daily_and_issuing_every_step(lead: Lead) -> None:
    values = daily_load(10)
    values[0, 700:720] = np.nan
    first, refit = 8 * 96 + 5, 40

    replayed = replay_lead(
        history_of(values), lead=lead, quantiles=QUANTILES, first_step=first, refit_steps=refit
    )

    for step in (0, 1, 39, 40, 77, 110):
        fit_at = first + step // refit * refit
        forecaster = fit_lead(history_of(values[:, :fit_at]), lead=lead, quantiles=QUANTILES)
        newest = values[:, first + step - forecaster.needed_steps : first + step]
        issued = forecaster.issue(newest, steps_since_fit=first + step - fit_at)
        np.testing.assert_allclose(replayed[..., step], issued, rtol=1e-5)


@pytest.mark.parametrize(
    "lead", [Lead(first_step=1, last_step=4), Lead(first_step=24, last_step=24)]
)
def test_changing_the_future_changes_no_earlier_forecast(lead: Lead) -> None:
    values = daily_load(10)
    changed = values.copy()
    changed[:, 8 * 96 + 50 :] *= 7

    before, after = (
        replay_lead(
            history_of(v), lead=lead, quantiles=QUANTILES, first_step=8 * 96, refit_steps=96
        )
        for v in (values, changed)
    )

    np.testing.assert_array_equal(before[..., :51], after[..., :51])
    assert not np.array_equal(before[..., 51], after[..., 51])


def replayed_coverage(values: FloatArray, lead: Lead, *, step_seconds: int, days: int) -> float:
    """Return the share of outcomes of the last days that the 0.95 quantile covered."""
    first = values.shape[1] - days * 86_400 // step_seconds
    upper = replay_lead(
        history_of(values, step_seconds=step_seconds),
        lead=lead,
        quantiles=(0.95,),
        first_step=first,
        refit_steps=86_400 // step_seconds,
    )[0, 0]
    width = lead.last_step - lead.first_step + 1
    highest = np.lib.stride_tricks.sliding_window_view(values[0], width).max(axis=-1)
    outcome = highest[first + lead.first_step - 1 :]
    return float(np.mean(outcome <= upper[: len(outcome)]))


def test_coverage_of_a_daily_load_meets_the_quantile() -> None:
    values = daily_load(14)[:1]

    coverage = replayed_coverage(values, Lead(first_step=1, last_step=4), step_seconds=900, days=5)

    assert 0.92 <= coverage <= 0.99


def test_an_hourly_batch_is_bounded_from_its_last_hours() -> None:
    rng = np.random.default_rng(11)
    minute = np.arange(9 * 288) * 5 % 60
    values = np.where(minute < 10, 30.0, 2.0)[None] * rng.gamma(100, 0.01, (1, 9 * 288))
    lead = Lead(first_step=3, last_step=3)

    upper = replay_lead(
        history_of(values, step_seconds=300),
        lead=lead,
        quantiles=(0.95,),
        first_step=8 * 288,
        refit_steps=288,
    )[0, 0]

    target_minute = minute[8 * 288 + 2 :]
    upper = upper[: len(target_minute)]
    assert (upper[target_minute < 10] > 30).all()
    assert np.median(upper[target_minute >= 10]) < 4


def test_a_level_eighty_times_as_high_is_mostly_covered_on_its_first_day_and_then_wholly() -> None:
    values = daily_load(14)[:1]
    values[:, 12 * 96 :] *= 80
    lead = Lead(first_step=1, last_step=4)

    first_day = replayed_coverage(values[:, : 13 * 96], lead, step_seconds=900, days=1)
    second_day = replayed_coverage(values, lead, step_seconds=900, days=1)

    assert first_day >= 0.7
    assert second_day >= 0.9


def test_censored_flags_reach_every_refit() -> None:
    values = np.minimum(daily_load(9)[:1], 20)
    history = history_of(values)
    flagged = replace(history, is_censored=values >= 20)
    lead = Lead(first_step=1, last_step=2)

    plain, aware = (
        replay_lead(h, lead=lead, quantiles=(0.9,), first_step=8 * 96, refit_steps=48)
        for h in (history, flagged)
    )

    assert not np.array_equal(plain, aware)


@pytest.mark.parametrize(
    ("first_step", "refit_steps", "setting"), [(0, 96, "first-step"), (800, 97, "refit-steps")]
)
def test_steps_out_of_range_are_refused(first_step: int, refit_steps: int, setting: str) -> None:
    with pytest.raises(SettingError, match=setting):
        replay_lead(
            history_of(daily_load(9)),
            lead=Lead(first_step=1, last_step=1),
            quantiles=(0.9,),
            first_step=first_step,
            refit_steps=refit_steps,
        )
