"""Numbers as Kubernetes' quantities."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.metricsapi.quantity import LARGEST, quantity
from gputide.scaling.quantity import FACTORS, parse_quantity


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (20, "20"),
        (1.5, "1500m"),
        (0.033, "33m"),
        (0.5, "500m"),
        (1500, "1500"),
        (2000, "2k"),
        (1e6, "1M"),
        (189, "189"),
        (0.0, "0"),
        (-0.0, "0"),
        (1e-12, "1n"),
        (0.1 + 0.2, "300m"),
        (-1e-12, "-1n"),
        (63.5123456, "63512m"),
        (float("nan"), None),
        (float("inf"), None),
        (1e300, None),
    ],
)
def test_the_canonical_form(value: float, text: str | None) -> None:
    assert quantity(value) == text


@settings(deadline=None, max_examples=300)
@given(st.floats(min_value=0, max_value=LARGEST / 2))
def test_what_is_read_back_is_the_number_to_a_thousandth_and_something_stays_something(
    value: float,
) -> None:
    text = quantity(value)
    assert text is not None
    back = parse_quantity(text, setting="x")

    assert abs(back - value) <= max(0.0005, value * 1e-12) + 1e-9
    assert (back > 0) == (value > 0)
    assert not text.rstrip("numkMGTPE").endswith("000") or text.endswith("E")
    assert text.lstrip("0123456789") in FACTORS
