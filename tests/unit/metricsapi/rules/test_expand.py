"""Names made of what a pattern found."""

import re

import pytest

from gputide.metricsapi.rules.expand import expand


@pytest.mark.parametrize(
    ("template", "made"),
    [
        ("$1", "http"),
        ("${1}_x", "http_x"),
        ("$1_x", ""),
        ("$0", "http_total"),
        ("${base}", "http"),
        ("$$1", "$1"),
        ("${01}", ""),
        ("$9", ""),
        ("${", "${"),
        ("a$", "a$"),
    ],
)
def test_names_are_filled_in_as_go_does_it(template: str, made: str) -> None:
    match = re.match("(?P<base>.*)_total", "http_total")
    assert match is not None

    assert expand(template, match) == made
