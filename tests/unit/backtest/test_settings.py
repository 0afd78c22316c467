import pytest

from gputide.backtest.settings import BacktestSettings
from gputide.errors import SettingError


def test_a_quantile_is_taken_as_percent_too() -> None:
    assert BacktestSettings(quantile=99).quantile == 0.99


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("history_days", 0),
        ("evaluated_days", 0),
        ("tuning_days", -1),
        ("harm_budget_ratio", 0),
        ("harm_budget_ratio", 1),
        ("quantile", 0),
        ("quantile", 100),
        ("target_ratio", 1.1),
        ("proactive_target_ratio", 0),
        ("net_target_ratio", float("nan")),
        ("policies", ()),
    ],
)
def test_a_setting_that_makes_no_sense_is_named(setting: str, value: object) -> None:
    with pytest.raises(SettingError) as caught:
        BacktestSettings(**{setting: value})  # type: ignore[arg-type]  # wrong on purpose

    assert caught.value.setting == setting.replace("_", "-")
