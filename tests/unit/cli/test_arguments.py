"""A lone dash means a stream."""

import pytest

from gputide.cli.arguments import spell_out_dashes


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        (["--csv", "-"], ["--csv", "/dev/stdin"]),
        (["--csv", "a", "-", "b"], ["--csv", "a", "/dev/stdin", "b"]),
        (["--json", "-", "--html", "-"], ["--json", "/dev/stdout", "--html", "/dev/stdout"]),
        (["--csv=-", "-x", "--", "-1"], ["--csv=-", "-x", "--", "-1"]),
        ([], []),
    ],
)
def test_a_lone_dash_is_spelt_out_and_nothing_else(given: list[str], expected: list[str]) -> None:
    assert spell_out_dashes(given) == expected
