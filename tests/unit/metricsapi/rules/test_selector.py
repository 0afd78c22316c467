"""Label selectors as PromQL matchers."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.rules.selector import among, escaped, matchers


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        ("", []),
        ("a=b", ['a="b"']),
        ("a==b, c!=d", ['a="b"', 'c!="d"']),
        ("a in (x, y),b notin (z)", ['a=~"x|y"', 'b!="z"']),
        ("a notin (x,y)", ['a!~"x|y"']),
        ("a,!b", ['a!=""', 'b=""']),
        ("a=", ['a=""']),
    ],
)
def test_every_operator_has_its_matcher(selector: str, expected: list[str]) -> None:
    assert [str(one) for one in matchers(selector)] == expected


@pytest.mark.parametrize(
    "selector",
    [
        "a in b",
        "=b",
        "a=b c",
        "a>1",
        "scaledobject.keda.sh/name=x",
    ],
)
def test_other_selectors_are_bad_requests(selector: str) -> None:
    with pytest.raises(StatusError) as caught:
        matchers(selector)
    assert caught.value.code == 400


def test_a_name_is_never_a_pattern() -> None:
    assert str(among("pod", ["web.1", "web"])) == r'pod=~"web\\.1|web"'
    assert str(among("pod", ["web.1"])) == 'pod="web.1"'
    assert str(among("pod", ['"}'])) == r'pod="\"}"'


@settings(deadline=None, max_examples=200)
@given(st.text(alphabet=st.characters(codec="ascii", categories=["L", "N", "P", "S"])))
def test_escaped_text_matches_itself_alone(text: str) -> None:
    assert re.fullmatch(escaped(text), text)
