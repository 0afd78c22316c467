import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from gputide.backtest.policies import series
from gputide.backtest.policies.series import DAY_MINUTES, naive_series, window_max

NAN = float("nan")
values = st.lists(st.one_of(st.floats(0, 100), st.just(NAN)), min_size=1, max_size=12)


@given(values=values, first=st.integers(-4, 3), width=st.integers(0, 4))
def test_a_window_holds_the_maximum_of_what_is_known(
    values: list[float], first: int, width: int
) -> None:
    out = window_max(np.array(values), first=first, last=first + width)

    for minute, found in enumerate(out):
        window = [minute + offset for offset in range(first, first + width + 1)]
        known = [values[t] for t in window if 0 <= t < len(values) and values[t] == values[t]]
        assert (found == max(known)) if known else np.isnan(found)


def two_days() -> np.ndarray:
    demand = np.zeros(2 * DAY_MINUTES)
    demand[600] = 5.0
    demand[DAY_MINUTES + 300] = 9.0
    return demand


def test_the_oracle_knows_the_start_delay_to_come() -> None:
    table = naive_series(two_days(), start_delay_seconds=180)
    oracle = table.values[table.names.index(series.ORACLE)]

    assert np.flatnonzero(oracle == 5).tolist() == [597, 598, 599, 600]


def test_last_day_expects_yesterdays_coming_minutes() -> None:
    table = naive_series(two_days(), start_delay_seconds=180)
    last_day = table.values[table.names.index(series.LAST_DAY)]

    assert np.isnan(last_day[:DAY_MINUTES]).all()
    assert np.flatnonzero(last_day == 5).tolist() == [DAY_MINUTES + at for at in range(597, 601)]
    assert np.isnan(table.values[table.names.index(series.LAST_WEEK)]).all()


def test_crane_expects_the_coming_hour_of_past_days_and_a_margin() -> None:
    table = naive_series(two_days(), start_delay_seconds=180)
    crane = table.values[table.names.index(series.CRANE)]

    assert np.flatnonzero(crane > 5).tolist() == [DAY_MINUTES + at for at in range(540, 601)]


@given(cut=st.integers(DAY_MINUTES, 2 * DAY_MINUTES - 2), value=st.floats(0, 100))
def test_no_naive_forecast_but_the_oracles_looks_ahead(cut: int, value: float) -> None:
    demand, other = two_days(), two_days()
    other[cut:] = value
    past = [
        naive_series(what, start_delay_seconds=180).values[:3, : cut + 1]
        for what in (demand, other)
    ]

    assert np.array_equal(past[0], past[1], equal_nan=True)
