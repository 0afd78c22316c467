from datetime import datetime

import numpy as np

from gputide.autoscaler.outlook.packed import PackedForecaster
from gputide.forecast import History, Lead
from gputide.forecast.lead import fit_lead

START = datetime(2026, 1, 1)  # noqa: DTZ001  a local clock has no zone


def test_a_packed_forecaster_says_the_same_to_a_thousandth() -> None:
    minutes = np.arange(3 * 1440)
    scales = np.array([[0.001], [1.0], [90_000.0]])
    values = (2 + np.sin(minutes * np.pi / 720))[None] * scales
    history = History(values=values, step_seconds=60, start_local=START)
    forecaster = fit_lead(history, lead=Lead(first_step=1, last_step=3), quantiles=[0.95])
    packed = PackedForecaster.pack(forecaster)
    newest = values[:, -forecaster.needed_steps :]

    before = forecaster.issue(newest, steps_since_fit=7)
    after = packed.unpack().issue(newest, steps_since_fit=7)
    assert packed.is_packed
    np.testing.assert_allclose(after, before, rtol=2e-3)
    assert packed.forecaster.seasons.envelopes.nbytes * 2 == forecaster.seasons.envelopes.nbytes


def test_what_would_not_fit_is_kept_as_it_is() -> None:
    values = np.full((1, 3 * 1440), 1e-7)
    values[0, 1000] = 1e9  # in units of the mean this is beyond float16
    history = History(values=values, step_seconds=60, start_local=START)
    forecaster = fit_lead(history, lead=Lead(first_step=1, last_step=3), quantiles=[0.95])
    packed = PackedForecaster.pack(forecaster)
    assert (
        np.isfinite(packed.unpack().seasons.envelopes).sum()
        == np.isfinite(forecaster.seasons.envelopes).sum()
    )
