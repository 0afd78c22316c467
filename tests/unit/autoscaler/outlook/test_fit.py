import numpy as np

from fakes.autoscalers import tide
from gputide.autoscaler.model import Key
from gputide.autoscaler.outlook.fit import Terms, fit_batch, higher, issue, zone_offset

nan = float("nan")
KEY = Key(namespace="a", name="b")
# 2026-10-25 01:00 UTC: Berlin's clock goes from +2 h to +1 h
CHANGE = 1_792_890_000 // 60


def test_a_fit_bounds_the_tide_that_comes() -> None:
    newest = 29_833_334
    minutes = np.arange(newest - 7 * 1440 + 1, newest + 1)
    values = tide(None, minutes)[None]
    fit = fit_batch(
        [KEY], values, Terms(lead_steps=3, quantile=0.95, zone="UTC"), newest_minute=newest
    )
    later = newest + 300
    recent = tide(None, np.arange(later - 2000, later + 1))[None]
    needed = fit.forecaster.forecaster.needed_steps
    upper = issue(fit, recent[:, -needed:], minute=later)[0]
    coming = tide(None, np.arange(later + 1, later + 4)).max()

    assert coming * 0.98 <= upper <= coming * 1.15
    assert fit.peaks[0] == values.max()
    assert fit.verdicts[0].periods_seconds[0] == 86_400


def test_where_the_clock_changes_the_days_phase_moves_with_it() -> None:
    assert zone_offset("Europe/Berlin", CHANGE - 1) == 120
    assert zone_offset("Europe/Berlin", CHANGE) == 60

    newest = CHANGE - 200
    minutes = np.arange(newest - 7 * 1440 + 1, newest + 1)
    step = np.where((minutes + 120) % 1440 >= 8 * 60, 1.0, 0.1)  # opens at 8 by the clock
    fit = fit_batch(
        [KEY],
        step[None],
        Terms(lead_steps=3, quantile=0.95, zone="Europe/Berlin"),
        newest_minute=newest,
    )
    needed = fit.forecaster.forecaster.needed_steps
    flat = np.full((1, needed), 0.1)
    eight_utc = CHANGE - CHANGE % 1440 + 7 * 60  # 8 o'clock in Berlin is 7 UTC now
    assert issue(fit, flat, minute=eight_utc - 62)[0] < 0.5
    assert issue(fit, flat, minute=eight_utc - 2)[0] > 0.5


def test_a_peak_grows_by_what_is_known() -> None:
    assert higher(1.0, 2.0) == 2.0
    assert higher(1.0, None) == 1.0
    assert higher(nan, 0.5) == 0.5
