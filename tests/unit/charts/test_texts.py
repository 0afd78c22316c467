from string import Formatter

import pytest

from gputide.charts.texts import LANGUAGES, Texts


@pytest.mark.parametrize("name", Texts.__slots__)
def test_both_languages_fill_the_same_fields(name: str) -> None:
    fields = [
        sorted(field for _, field, _, _ in Formatter().parse(getattr(texts, name)) if field)
        for texts in LANGUAGES.values()
    ]

    assert fields[0] == fields[1]


@pytest.mark.parametrize("name", Texts.__slots__)
def test_no_text_is_missing(name: str) -> None:
    assert all(getattr(texts, name) for texts in LANGUAGES.values())
