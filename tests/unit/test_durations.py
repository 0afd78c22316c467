import pytest

from gputide.durations import parse_span, span
from gputide.errors import SettingError


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("30s", 30),
        ("1h30m", 5400),
        ("7d", 604_800),
        ("1.5h", 5400),
        ("250ms", 0.25),
        ("2w", 1_209_600),
    ],
)
def test_spans_are_read_as_people_write_them(text: str, seconds: float) -> None:
    assert parse_span(text, setting="ttl") == seconds


@pytest.mark.parametrize("text", ["", "5", "soon", "1h 30m", "-1h", "1y", "h"])
def test_what_is_no_span_is_named(text: str) -> None:
    with pytest.raises(SettingError, match=r"ttl: .* is no span of time"):
        parse_span(text, setting="ttl")


def test_spans_are_told_in_one_unit() -> None:
    assert [span(one) for one in (0, 43, 150, 9000, 200_000)] == ["0s", "43s", "2m", "2h", "2d"]
