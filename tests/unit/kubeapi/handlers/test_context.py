import pytest

from fakes.refusals import code_of
from gputide.kubeapi.handlers.context import is_true, number


def test_a_number_that_is_not_given_is_the_usual_one() -> None:
    assert number("", "limit", 7) == 7
    assert number("2.5", "timeoutSeconds", 0) == 2.5


@pytest.mark.parametrize("text", ["x", "-1", "nan", "inf", "1e999"])
def test_what_is_no_number_is_a_400(text: str) -> None:
    assert code_of(lambda: number(text, "limit", 0)) == 400


def test_a_flag_is_true_or_1() -> None:
    assert [is_true(one) for one in ("true", "1", "false", "", "yes")] == [
        True,
        True,
        False,
        False,
        False,
    ]
