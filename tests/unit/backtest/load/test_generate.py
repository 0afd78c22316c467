"""The project's own traces: the same every time, and what their names say."""

import numpy as np
import pytest

from gputide.backtest.load.generate import MAKERS, generated_traces
from gputide.backtest.model import FloatArray, Trace

Traces = dict[str, Trace]

DAY, WEEK = 1440, 10_080


@pytest.fixture(scope="module")
def traces() -> Traces:
    return {trace.name: trace for trace in generated_traces(seed=1)}


def likeness(values: FloatArray, lag: int) -> float:
    """Return the autocorrelation at a lag over the known minutes."""
    centred = values - np.nanmean(values)
    return float(np.nanmean(centred[lag:] * centred[:-lag]) / np.nanvar(values))


def test_the_same_seed_gives_the_same_traces_and_another_gives_others(traces: Traces) -> None:
    again, other = generated_traces(seed=1), generated_traces(seed=2)

    for trace, same, different in zip(traces.values(), again, other, strict=True):
        np.testing.assert_array_equal(trace.demand, same.demand)
        assert not np.array_equal(trace.demand, different.demand, equal_nan=True)


def test_each_is_named_and_two_to_three_weeks_of_sane_minutes(traces: Traces) -> None:
    assert list(traces) == list(MAKERS)
    for trace in traces.values():
        assert 16 * DAY <= len(trace.demand) <= 21 * DAY
        known = trace.demand[~np.isnan(trace.demand)]
        assert known.min() >= 0
        assert np.isfinite(known).all()
        assert 0.9 < len(known) / len(trace.demand) <= 1
        assert trace.unit == "GPUs"


@pytest.mark.parametrize(
    "name", ["daily-tide", "growth", "level-shift", "special-day", "saturating-gpus"]
)
def test_tides_repeat_by_the_day(traces: Traces, name: str) -> None:
    assert likeness(traces[name].demand, DAY) > 0.8


@pytest.mark.parametrize("name", ["bursts", "intermittent", "flat", "random-walk"])
def test_what_nobody_foresees_does_not_repeat(traces: Traces, name: str) -> None:
    assert abs(likeness(traces[name].demand, DAY)) < 0.2


def test_each_trace_is_what_its_name_says(traces: Traces) -> None:
    week = traces["weekdays-and-weekend"].demand
    assert likeness(week, WEEK) > likeness(week, DAY) + 0.05
    assert (
        likeness(traces["hourly-batch"].demand, 60)
        > likeness(traces["hourly-batch"].demand, 30) + 0.5
    )
    growth = traces["growth"].demand
    assert np.nanmean(growth[-WEEK:]) > 1.5 * np.nanmean(growth[:WEEK])
    level = traces["level-shift"].demand
    assert level[12 * DAY : 19 * DAY].mean() > 1.6 * level[4 * DAY : 11 * DAY].mean()
    special = traces["special-day"].demand.reshape(-1, DAY).mean(axis=1)
    assert special.argmax() == 15
    idle = traces["intermittent"].demand
    assert 0.5 < (idle == 0).mean() < 0.95
    assert traces["flat"].demand.std() < 0.02 * traces["flat"].demand.mean()
    assert traces["bursts"].demand.max() > 20 * np.median(traces["bursts"].demand)
    noise = traces["request-noise"].demand
    assert np.abs(np.diff(noise)).mean() > 0.2 * noise.mean()


def test_a_saturated_gpu_says_that_its_load_is_only_a_lower_bound(traces: Traces) -> None:
    trace = traces["saturating-gpus"]

    assert trace.replicas is not None
    assert trace.is_censored is not None
    assert (trace.demand <= trace.replicas).all()
    assert 0.02 < trace.is_censored.mean() < 0.3
    assert trace.demand[trace.is_censored].min() >= 0.95 * 8


def test_some_have_a_lost_day_and_gaps_and_lost_minutes(traces: Traces) -> None:
    lost = np.isnan(traces["weekdays-and-weekend"].demand)
    assert lost.sum() == DAY
    assert np.isnan(traces["daily-tide"].demand).sum() == 95 + 180 + 240
    assert 0.01 < np.isnan(traces["growth"].demand).mean() < 0.03
