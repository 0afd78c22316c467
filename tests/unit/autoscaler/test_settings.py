from pathlib import Path

import pytest

from gputide.autoscaler.settings import AutoscalerSettings, EngineSettings
from gputide.errors import SettingError


def test_spans_and_queries_are_read() -> None:
    settings = AutoscalerSettings(
        period="30s", max_sample_age="2m", query=("rps=sum by (namespace, pod) (x == 1)",)
    )
    assert settings.period_seconds == 30
    assert settings.engine.max_sample_age_seconds == 120
    assert settings.queries == {"rps": "sum by (namespace, pod) (x == 1)"}
    assert settings.engine.history_minutes == 7 * 1440


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"period": "0s"}, "period: must be 1s to 5m"),
        ({"period": "soon"}, "period: 'soon' is no span of time"),
        ({"query": ("rps",)}, "query: 'rps' is no NAME=EXPRESSION"),
        ({"history_days": 15}, "history-days: must be 1 to 14"),
        ({"max_sample_age": "1s"}, "max-sample-age: must be 5 to 300 seconds"),
        ({"rate_window": "1s"}, "rate-window: must be 15 to 3600 seconds"),
        ({"listen_address": ":8090"}, "token-file: is needed to serve forecasts on :8090"),
    ],
)
def test_what_cannot_be_is_named(wrong: dict[str, object], message: str) -> None:
    with pytest.raises(SettingError, match=message):
        AutoscalerSettings(**wrong)  # type: ignore[arg-type]  # one wrong field


def test_beyond_this_machine_a_token_is_needed() -> None:
    AutoscalerSettings(listen_address="0.0.0.0:8090", token_file=Path("token"))
    AutoscalerSettings(listen_address="[::1]:8090")
    assert EngineSettings().history_days == 7


def test_shards_take_part_in_the_election() -> None:
    with pytest.raises(SettingError, match="shards: take part in the election"):
        AutoscalerSettings(shards=True, leader_elect=False)
