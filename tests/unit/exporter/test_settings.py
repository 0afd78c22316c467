import pytest

from gputide.errors import SettingError
from gputide.exporter.options import HostLabel
from gputide.exporter.settings import ExporterSettings, split_lists


def test_dcgms_flags_shape_the_page() -> None:
    settings = ExporterSettings(
        use_old_namespace=True,
        no_hostname=True,
        kubernetes=True,
        kubernetes_enable_pod_labels=True,
        kubernetes_pod_label_allowlist_regex=("^app,tier$",),
        collect_interval=30_000,
    )

    page = settings.page
    assert page.is_old_namespace
    assert page.host_label is HostLabel.NONE
    assert [pattern.pattern for pattern in page.pod_label_patterns] == ["^app", "tier$"]
    assert settings.interval_seconds == 30


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({"collect_interval": 5}, "collect-interval: 5 ms; must be 100 to 3600000"),
        (
            {"kubernetes_enable_pod_labels": True},
            "kubernetes-enable-pod-labels: does nothing without --kubernetes",
        ),
        (
            {"kubernetes_pod_label_allowlist_regex": ("(",)},
            (
                "kubernetes-pod-label-allowlist-regex: '(' is no regular expression: "
                "missing ), unterminated subpattern"
            ),
        ),
    ],
)
def test_a_wrong_setting_is_named(given: dict[str, object], problem: str) -> None:
    with pytest.raises(SettingError) as error:
        ExporterSettings(**given)  # type: ignore[arg-type] # the table's point

    assert str(error.value) == problem


def test_lists_are_given_joined_or_one_by_one() -> None:
    assert split_lists(("a, b", "", "c")) == ("a", "b", "c")
