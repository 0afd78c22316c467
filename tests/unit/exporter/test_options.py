import pytest

from gputide.errors import SettingError
from gputide.exporter.options import HostLabel, PageOptions


def test_the_defaults_are_dcgm_exporters() -> None:
    options = PageOptions()

    assert options.host_label is HostLabel.UPPER
    assert (options.xid_window_seconds, options.clock_event_window_seconds) == (300, 300)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: PageOptions(max_series=-1), "max-series: must be 0 or more, not -1"),
        (lambda: PageOptions(max_label_characters=0), "max-label-characters: must be above 0"),
        (lambda: PageOptions(xid_window_seconds=float("nan")), "xid-window-seconds: must be above"),
    ],
)
def test_a_limit_that_makes_no_sense_is_named(wrong: object, message: str) -> None:
    assert callable(wrong)
    with pytest.raises(SettingError, match=message):
        wrong()
