"""What a cadence is and what it is not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.backtest.load.cadence import cadence_seconds
from gputide.backtest.load.grid import to_minute_grid
from gputide.backtest.load.samples import Samples
from gputide.errors import InputError

T0 = 1_700_000_040


def samples_at(times: object, keys: object = None) -> Samples:
    at = np.asarray(times, dtype=np.float64)
    return Samples(
        name="load.csv",
        times=at,
        values=np.ones(len(at)),
        keys=np.zeros(len(at), dtype=np.int64) if keys is None else np.asarray(keys),
        lines=np.arange(2, len(at) + 2),
        is_keyed=keys is not None,
    )


@pytest.mark.parametrize("lost", [0.05, 0.3, 0.5])
def test_randomly_lost_samples_are_gaps_and_no_second_cadence(lost: float) -> None:
    rng = np.random.default_rng(7)
    kept = np.flatnonzero(rng.random(20_000) >= lost)

    assert cadence_seconds(samples_at(T0 + 60 * kept)) == 60


@pytest.mark.parametrize(("first", "second"), [(60, 300), (300, 60), (60, 15), (15, 60), (60, 120)])
@pytest.mark.parametrize("count", [(5, 5), (500, 40), (3000, 1500)])
def test_two_cadences_are_refused_at_the_line_between_them(
    first: int, second: int, count: tuple[int, int]
) -> None:
    early = T0 + first * np.arange(count[0])
    late = early[-1] + second * np.arange(1, count[1] + 1)

    corner = rf"load\.csv:{count[0] + 1}: two cadences: rows lie {first} s .* {second} s after it"
    with pytest.raises(InputError, match=corner):
        cadence_seconds(samples_at(np.concatenate([early, late])))


def test_times_without_any_cadence_are_refused() -> None:
    rng = np.random.default_rng(3)

    with pytest.raises(InputError, match=r"load\.csv: no regular cadence .*--duration-column"):
        to_minute_grid(samples_at(T0 + np.cumsum(rng.exponential(30, 3000))), hold_seconds=0)


@given(step=st.integers(1, 3600), count=st.integers(2, 50))
def test_any_whole_cadence_of_a_second_to_an_hour_is_found(step: int, count: int) -> None:
    assert cadence_seconds(samples_at(T0 + step * np.arange(count))) == step


@pytest.mark.parametrize("step", [15, 30, 60, 300])
def test_jitter_leads_to_the_usual_cadence(step: int) -> None:
    jitter = np.random.default_rng(5).uniform(-0.4, 0.4, 2000) * step

    assert cadence_seconds(samples_at(T0 + step * np.arange(2000) + jitter)) == step


def test_the_cadence_of_many_series_is_that_of_each_not_of_all_rows() -> None:
    times = np.concatenate([T0 + offset + 60 * np.arange(50) for offset in (0, 7, 31)])

    assert cadence_seconds(samples_at(times, keys=np.repeat([0, 1, 2], 50))) == 60


def test_one_sparse_series_among_many_is_no_second_cadence() -> None:
    times = np.concatenate([*[T0 + 60 * np.arange(300)] * 9, T0 + 180 * np.arange(100)])
    keys = np.concatenate([np.repeat(np.arange(9), 300), np.full(100, 9)])

    assert cadence_seconds(samples_at(times, keys=keys)) == 60
