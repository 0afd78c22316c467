from string import Formatter

from gputide.backtest.model import PolicyName
from gputide.backtest.report.texts import REPORT_TEXTS


def test_both_languages_fill_the_same_fields() -> None:
    def slots(value: object) -> list[str]:
        texts = value if isinstance(value, tuple) else (value,)
        fields = [f for text in texts for _, f, _, _ in Formatter().parse(str(text)) if f]
        return sorted(fields)

    english, chinese = REPORT_TEXTS["en"], REPORT_TEXTS["zh"]
    for name in english.__slots__:
        if name != "names":
            assert slots(getattr(english, name)) == slots(getattr(chinese, name)), name
    assert set(english.names) == set(chinese.names) == set(PolicyName)
