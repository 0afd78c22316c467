"""What may enter a forecast: each refusal in its own words, and what is let through."""

from datetime import UTC, datetime

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.forecast.model import BoolArray, FloatArray, History, Lead

MONDAY = datetime(2026, 1, 5)  # noqa: DTZ001  a local time has no zone
DAY_SECONDS = 86_400


def history(
    values: FloatArray | None = None,
    *,
    step_seconds: int = 60,
    start_local: datetime = MONDAY,
    is_censored: BoolArray | None = None,
) -> History:
    return History(
        values=np.ones((2, 3)) if values is None else values,
        step_seconds=step_seconds,
        start_local=start_local,
        is_censored=is_censored,
    )


def test_unknown_and_idle_minutes_are_history() -> None:
    values = np.array([[np.nan, 0.0, 1e12], [np.nan, np.nan, np.nan]])

    assert history(values).values is values


@pytest.mark.parametrize("shape", [(0, 5), (3, 0)])
def test_no_workloads_and_no_minutes_are_history(shape: tuple[int, int]) -> None:
    assert history(np.empty(shape)).values.shape == shape


@pytest.mark.parametrize(("shape", "axes"), [((5,), 1), ((1, 2, 3), 3)])
def test_values_need_workloads_and_time(shape: tuple[int, ...], axes: int) -> None:
    with pytest.raises(SettingError) as caught:
        history(np.ones(shape))

    assert str(caught.value) == f"values: must be [workload, time], has {axes} axes"


@pytest.mark.parametrize("value", [np.inf, -np.inf, -1e-9])
def test_one_value_that_no_demand_can_have_refuses_the_history(value: float) -> None:
    values = np.full((2, 3), np.nan)
    values[1, 2] = value

    with pytest.raises(SettingError) as caught:
        history(values)

    assert str(caught.value) == "values: must be at least 0 and finite, or NaN where unknown"


@pytest.mark.parametrize("step_seconds", [0, -60, 7, 50_000, 2 * DAY_SECONDS])
def test_a_step_that_does_not_divide_a_day_is_refused(step_seconds: int) -> None:
    with pytest.raises(SettingError) as caught:
        history(step_seconds=step_seconds)

    assert str(caught.value) == f"step-seconds: {step_seconds} does not divide a day"


@given(steps=st.sampled_from([n for n in range(1, DAY_SECONDS + 1) if DAY_SECONDS % n == 0]))
def test_steps_of_a_day_fill_it(steps: int) -> None:
    found = history(step_seconds=steps)

    assert found.steps_per_day * found.step_seconds == DAY_SECONDS


def test_a_start_with_a_zone_is_refused() -> None:
    with pytest.raises(SettingError) as caught:
        history(start_local=datetime(2026, 1, 5, tzinfo=UTC))

    assert str(caught.value) == "start-local: must be a local time without a zone"


@pytest.mark.parametrize("shape", [(2,), (3, 2), (1, 3), (2, 4)])
def test_marks_of_another_shape_are_refused(shape: tuple[int, ...]) -> None:
    with pytest.raises(SettingError) as caught:
        history(is_censored=np.zeros(shape, bool))

    assert str(caught.value) == "is-censored: must have the shape of values"


def test_marks_of_the_shape_of_the_values_are_kept() -> None:
    marks = np.array([[True, False, False], [False, False, True]])

    assert history(is_censored=marks).is_censored is marks


@pytest.mark.parametrize(("first", "last"), [(0, 5), (-1, 1), (6, 5), (0, 0)])
def test_a_lead_that_is_not_ahead_is_refused(first: int, last: int) -> None:
    with pytest.raises(SettingError) as caught:
        Lead(first_step=first, last_step=last)

    assert str(caught.value) == "lead: must have 1 <= first step <= last step"


@pytest.mark.parametrize(("first", "last"), [(1, 1), (1, 5), (60, 60)])
def test_a_lead_of_one_step_or_more_is_taken(first: int, last: int) -> None:
    lead = Lead(first_step=first, last_step=last)

    assert (lead.first_step, lead.last_step) == (first, last)
