"""The page's words."""

from dataclasses import asdict
from string import Formatter

from gputide.metricsapi.predictions.texts import WORDS


def test_every_language_fills_the_same_fields() -> None:
    english, chinese = (asdict(WORDS[one]) for one in ("en", "zh"))

    assert {key for key in english if english[key] == chinese[key]} == set()
    for key, text in english.items():
        fields = [
            {field for _, field, _, _ in Formatter().parse(one) if field}
            for one in (text, chinese[key])
        ]
        assert fields[0] == fields[1], key
