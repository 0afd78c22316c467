import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.age import age, human_duration


@pytest.mark.parametrize(
    ("seconds", "expected"),
    [
        (0, "0s"), (119, "119s"), (120, "2m"), (125, "2m5s"), (599, "9m59s"), (600, "10m"),
        (3 * 3600 - 1, "179m"), (3 * 3600, "3h"), (3 * 3600 + 61, "3h1m"), (8 * 3600, "8h"),
        (48 * 3600 - 1, "47h"), (48 * 3600, "2d"), (50 * 3600, "2d2h"), (192 * 3600, "8d"),
        (729 * 86400, "729d"), (730 * 86400, "2y"), (731 * 86400, "2y1d"), (8 * 365 * 86400, "8y"),
        (-0.5, "0s"), (-5, "<invalid>"),
    ],
)  # fmt: skip
def test_a_span_is_written_as_kubectl_writes_it(seconds: float, expected: str) -> None:
    assert human_duration(seconds) == expected


@pytest.mark.parametrize(
    ("time", "expected"),
    [
        (None, "<unknown>"),
        ("", "<unknown>"),
        ("1970-01-01T00:00:00Z", "10m"),
        ("1970-01-01T00:00:00.000001Z", "9m59s"),
        ("yesterday", "<invalid>"),
        ("1970-01-01T00:00:00", "<invalid>"),
    ],
)
def test_an_age_is_counted_from_a_time(time: str | None, expected: str) -> None:
    assert age(time, 600) == expected


@given(st.floats(0, 1e10))
def test_a_span_has_at_most_two_units(seconds: float) -> None:
    assert sum(one.isalpha() for one in human_duration(seconds)) in (1, 2)
