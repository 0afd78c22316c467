import pytest

from gputide.errors import SettingError
from gputide.quantile import parse_quantile


@pytest.mark.parametrize(("text", "fraction"), [(95, 0.95), (0.95, 0.95), (99.9, 0.999), (2, 0.02)])
def test_percent_and_fractions_are_both_taken(text: float, fraction: float) -> None:
    assert parse_quantile(text) == pytest.approx(fraction)


@pytest.mark.parametrize("value", [0, 1, 100, 101, -5, float("nan"), float("inf")])
def test_what_is_no_quantile_is_refused(value: float) -> None:
    with pytest.raises(SettingError, match=r"^spec.q: .* is no quantile"):
        parse_quantile(value, setting="spec.q")
