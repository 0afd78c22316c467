"""Replaying gives what fitting and issuing step by step gives, and never looks ahead."""

from datetime import datetime

import numpy as np
import pytest

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
