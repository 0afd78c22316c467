"""Go templates as far as rules need them."""

import pytest

from gputide.errors import InputError
from gputide.metricsapi.rules.template import parse_template

KNOWN = ("Series", "GroupBySlice", "LabelValuesByName")
VALUES = {
    "Series": "up",
    "GroupBySlice": ["pod", "node"],
    "LabelValuesByName": {"pod": "a|b"},
}


@pytest.mark.parametrize(
    ("text", "rendered"),
    [
        ("sum(<<.Series>>)", "sum(up)"),
        ("<< .Series >>", "up"),
        ("<<- .Series ->>", "up"),
        ("<<index .GroupBySlice 1>>", "node"),
        ("<<index .GroupBySlice 7>>", ""),
        ('<<index .LabelValuesByName "pod">>', "a|b"),
        ("<<.LabelValuesByName.pod>>", "a|b"),
        ("<<.LabelValuesByName.absent>>", ""),
        ("<<.GroupBySlice>>", "[pod node]"),
        ("<<.LabelValuesByName>>", "map[pod:a|b]"),
        ("x << 1", None),
        ("<<range .GroupBySlice>>x<<end>>", None),
        ("<<.Series | printf>>", None),
        ("<<.Nothing>>", None),
    ],
)
def test_fields_and_index_are_understood_and_all_else_is_refused(
    text: str, rendered: str | None
) -> None:
    if rendered is None:
        with pytest.raises(InputError, match=r"^here: "):
            parse_template(text, known=KNOWN, place="here")
    else:
        assert parse_template(text, known=KNOWN, place="here").render(VALUES) == rendered
