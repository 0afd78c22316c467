"""The forecast after a trace: a day long, on the right clock, honest about what is unknown."""

from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.backtest.load.generate import generated_traces
from gputide.backtest.model import FloatArray, Trace
from gputide.backtest.outlook.look import OutlookSettings, history_of, look_ahead
from gputide.errors import SettingError
from gputide.forecast.model import Reason

DAY = 1440


def trace_of(demand: FloatArray, *, start: str = "2026-03-02T00:00:00", zone: str = "UTC") -> Trace:
    return Trace(
        name="made",
        demand=np.asarray(demand, dtype=np.float64),
        start_utc=datetime.fromisoformat(start).replace(tzinfo=UTC),
        time_zone=zone,
    )


def day_of(peak_hour: float) -> FloatArray:
    """Return the 1440 minutes of a local day that peaks at an hour."""
    beside = np.abs((np.arange(DAY) / 60 - peak_hour + 12) % 24 - 12)
    return 10 + 90 * np.exp(-0.5 * (beside / 2) ** 2)


def test_a_clean_day_is_foreseen_at_its_hour_and_bounded_above() -> None:
    noise = 1 + np.random.default_rng(1).normal(0, 0.03, 14 * DAY)
    trace = trace_of(np.tile(day_of(15), 14) * noise)

    outlook = look_ahead(trace, OutlookSettings(quantile=0.95))

    assert outlook.start_utc == trace.start_utc + timedelta(days=14)
    assert outlook.verdict.reasons == (Reason.IN_USE,)
    assert abs(outlook.median.argmax() - 15 * 60) <= 30
    assert 0.85 < (day_of(15) * 1.0 <= outlook.upper).mean() <= 1
    assert (outlook.median <= outlook.upper).all()
    assert outlook.lead_seconds == 180
    assert outlook.lead_upper is not None
    assert 9 < outlook.lead_upper < 13
    assert outlook.verdict.coverage_ratio is not None
    assert 0.85 < outlook.verdict.coverage_ratio <= 1


def test_the_peak_stays_at_its_local_hour_when_clocks_have_changed() -> None:
    # Two weeks to noon of 29 March, the day on which Berlin goes from +1 to +2.
    start = datetime(2026, 3, 15, 11, tzinfo=UTC)
    minutes = 14 * DAY
    local = [
        (start + timedelta(minutes=m, hours=1 if m < 13 * DAY + 14 * 60 else 2))
        for m in range(minutes)
    ]
    by_clock = day_of(18)
    demand = np.array([by_clock[at.hour * 60 + at.minute] for at in local])
    trace = trace_of(demand, start="2026-03-15T11:00:00", zone="Europe/Berlin")

    outlook = look_ahead(trace, OutlookSettings())

    peak_utc = outlook.start_utc + timedelta(minutes=int(outlook.median.argmax()))
    assert abs((peak_utc - datetime(2026, 3, 29, 16, tzinfo=UTC)).total_seconds()) <= 1800


@pytest.mark.parametrize(
    "demand",
    [
        np.zeros(3 * DAY),
        np.full(3 * DAY, np.nan),
        np.array([5.0]),
        np.array([1.0, np.nan] * DAY),
        np.concatenate([np.full(8 * DAY, np.nan), np.ones(30)]),
    ],
    ids=["zeros", "unknown", "one-minute", "every-other", "newborn"],
)
def test_any_history_gives_numbers_and_a_reason(demand: FloatArray) -> None:
    outlook = look_ahead(trace_of(demand), OutlookSettings())

    for values in (outlook.median, outlook.upper):
        assert values.shape == (DAY,)
        assert np.isfinite(values).all()
        assert (values >= 0).all()
    assert not outlook.verdict.is_seasonal_in_use
    assert outlook.verdict.reasons


def test_only_the_newest_days_are_learned_from() -> None:
    old, new = np.full(10 * DAY, 900.0), np.full(4 * DAY, 1.0)

    outlook = look_ahead(trace_of(np.concatenate([old, new])), OutlookSettings(history_days=4))

    assert outlook.upper.max() < 2
    assert len(outlook.trace.demand) == 4 * DAY
    assert outlook.trace.start_utc == datetime(2026, 3, 12, tzinfo=UTC)


def test_marks_of_saturation_move_with_their_minutes() -> None:
    (trace,) = (trace for trace in generated_traces() if trace.is_censored is not None)

    history = history_of(trace)

    assert history.is_censored is not None
    assert trace.is_censored is not None
    np.testing.assert_array_equal(history.is_censored[0], trace.is_censored)


@given(minutes=st.integers(1, 4 * DAY), seed=st.integers(0, 99))
@settings(deadline=None, max_examples=15)
def test_the_forecast_never_looks_beyond_the_end(minutes: int, seed: int) -> None:
    demand = np.random.default_rng(seed).gamma(2, 5, minutes + 1)

    outlook = look_ahead(trace_of(demand[:-1]), OutlookSettings())

    assert outlook.start_utc == datetime(2026, 3, 2, tzinfo=UTC) + timedelta(minutes=minutes)
    assert outlook.upper.max() <= 1.3 * demand[:-1].max() + 1e-9


@pytest.mark.parametrize(
    ("wrong", "setting"),
    [
        ({"quantile": 0}, "quantile"),
        ({"quantile": 100}, "quantile"),
        ({"quantile": float("nan")}, "quantile"),
        ({"history_days": 0}, "history-days"),
        ({"history_days": 1000}, "history-days"),
        ({"lead_seconds": 30}, "lead-seconds"),
        ({"lead_seconds": 1e6}, "lead-seconds"),
    ],
)
def test_settings_that_cannot_be_are_refused(wrong: dict[str, float], setting: str) -> None:
    with pytest.raises(SettingError, match=setting):
        OutlookSettings(**wrong)  # type: ignore[arg-type]  # wrong on purpose
