import pytest

from gputide.errors import SettingError
from gputide.exporter.collection.settings import CollectionSettings


@pytest.mark.parametrize("name", ["interval", "enumerate", "deadline", "max_age"])
@pytest.mark.parametrize("value", [0, -1, float("nan"), float("inf")])
def test_a_time_that_is_no_time_is_refused_by_name(name: str, value: float) -> None:
    with pytest.raises(SettingError) as error:
        CollectionSettings(**{f"{name}_seconds": value})

    assert error.value.setting == f"{name.replace('_', '-')}-seconds"


def test_readings_must_not_be_too_old_before_the_next_one_comes() -> None:
    with pytest.raises(SettingError, match="interval of 90 s"):
        CollectionSettings(interval_seconds=90)
