import pytest

from gputide.kubeapi.cel import MODULE, evaluated, installed


@pytest.fixture
def _package() -> None:
    pytest.importorskip(MODULE, reason="the package common-expression-language is not installed")


def test_there_is_an_evaluator_exactly_where_the_package_is_installed() -> None:
    try:
        __import__(MODULE)
    except ImportError:
        assert installed() is None
    else:
        assert installed() is evaluated


@pytest.mark.usefixtures("_package")
@pytest.mark.parametrize(
    ("rule", "holds"),
    [
        ("self.min <= self.max", True),
        ("self.min > self.max", False),
        ("!has(self.absent) || self.absent == 1", True),
        ("self.items.all(x, x.n > 1)", False),
        ("self.min == oldSelf.min", False),
        ("self.unknown == 1", False),
        ("quantity(self.text).isLessThan(quantity('1'))", None),
        ("self.min +", None),
        ("self.min", None),
    ],
)
def test_a_rule_holds_or_not_or_cannot_be_evaluated(rule: str, *, holds: bool | None) -> None:
    this = {"min": 1, "max": 3, "items": [{"n": 1}], "text": "1"}

    assert evaluated(rule, this, {"min": 2}) is holds
