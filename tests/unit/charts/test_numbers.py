import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.charts.numbers import number, percent, rounded


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0, "0"),
        (1234.5, "1,234"),
        (12.345, "12.3"),
        (0.000123, "0.000123"),
        (20.0, "20"),
        (1_000_000, "1,000,000"),
        (-3.14159, "-3.14"),
        (9.999, "10"),
        (None, "\N{EN DASH}"),
        (float("nan"), "\N{EN DASH}"),
        (float("inf"), "\N{EN DASH}"),
    ],
)
def test_numbers_have_the_digits_that_a_person_reads(value: float | None, text: str) -> None:
    assert number(value) == text


@pytest.mark.parametrize(
    ("ratio", "text"),
    [
        (0.0, "0 %"),
        (0.0123, "1.23 %"),
        (0.00001, "<0.01 %"),
        (0.00005, "0.01 %"),
        (-0.333, "-33.30 %"),
        (None, "\N{EN DASH}"),
        (float("nan"), "\N{EN DASH}"),
    ],
)
def test_a_little_harm_never_reads_as_none(ratio: float | None, text: str) -> None:
    assert percent(ratio) == text


def test_unknown_takes_the_sign_of_its_place() -> None:
    assert number(None, unknown="-") == percent(None, unknown="-") == "-"


@settings(deadline=None, max_examples=60)
@given(values=st.lists(st.floats(-1e12, 1e12), max_size=20))
def test_rounding_keeps_five_digits(values: list[float]) -> None:
    left = rounded(np.array(values, dtype=np.float64))

    assert np.allclose(left, values, rtol=1e-4, atol=1e-300)


def test_rounding_keeps_unknown_unknown() -> None:
    assert np.isnan(rounded(np.array([1.0, np.nan]))[1])
