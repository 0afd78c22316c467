import pytest

from gputide.errors import SettingError
from gputide.exporter.owners.settings import OwnerSettings


@pytest.mark.parametrize("name", ["ttl_seconds", "deadline_seconds", "max_age_seconds"])
@pytest.mark.parametrize("value", [0, -1, float("inf"), float("nan")])
def test_a_time_that_makes_no_sense_is_refused_by_its_name(name: str, value: float) -> None:
    with pytest.raises(SettingError, match=f"owners-{name.replace('_', '-')}: must be above 0"):
        OwnerSettings(**{name: value})  # type: ignore[arg-type]  # one of the times


def test_an_answer_cannot_be_dropped_before_it_is_asked_anew() -> None:
    with pytest.raises(SettingError, match="owners-max-age-seconds: is under 10 s"):
        OwnerSettings(ttl_seconds=10, max_age_seconds=5)
