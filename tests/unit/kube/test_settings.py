import pytest

from gputide.errors import SettingError
from gputide.kube.settings import KubeSettings


@pytest.mark.parametrize("seconds", [0, -1])
def test_a_deadline_is_above_nothing(seconds: float) -> None:
    with pytest.raises(SettingError, match="kube-timeout"):
        KubeSettings(timeout_seconds=seconds)


def test_at_least_one_request_may_be_under_way() -> None:
    with pytest.raises(SettingError, match="kube-max-concurrency"):
        KubeSettings(max_concurrency=0)
