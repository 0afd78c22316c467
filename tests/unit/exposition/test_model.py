import pytest

from gputide.errors import GputideError
from gputide.exposition import ExpositionError, Kind
from gputide.exposition.model import LABEL_NAME, METRIC_NAME


@pytest.mark.parametrize("name", ["a", "_a", "a:b", "DCGM_FI_DEV_GPU_UTIL", "a1"])
def test_a_metric_name_may_have_letters_digits_underscores_and_colons(name: str) -> None:
    assert METRIC_NAME.fullmatch(name)


@pytest.mark.parametrize("name", ["", "1a", "a-b", "a b", "ä"])
def test_nothing_else_is_a_name(name: str) -> None:
    assert not METRIC_NAME.fullmatch(name)
    assert not LABEL_NAME.fullmatch(name)


def test_a_label_name_has_no_colon() -> None:
    assert not LABEL_NAME.fullmatch("a:b")


def test_types_are_openmetrics_words() -> None:
    assert [str(kind) for kind in (Kind.COUNTER, Kind.GAUGE_HISTOGRAM, Kind.STATE_SET)] == [
        "counter",
        "gaugehistogram",
        "stateset",
    ]


def test_an_error_keeps_its_line() -> None:
    error = ExpositionError(3, "is no number")

    assert isinstance(error, GputideError)
    assert (str(error), error.line, error.problem) == ("line 3: is no number", 3, "is no number")
