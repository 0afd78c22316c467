"""What a person may set."""

from pathlib import Path
from typing import Any

import pytest

from gputide.errors import SettingError
from gputide.metricsapi.settings import MetricsSettings, ServingSettings, seconds


@pytest.mark.parametrize(
    ("text", "expected"), [("10m", 600), ("1h30m", 5400), ("500ms", 0.5), ("0", 0), ("0s", 0)]
)
def test_spans_are_read_as_go_writes_them(text: str, expected: float) -> None:
    assert seconds(text, "x") == expected


@pytest.mark.parametrize("text", ["", "10", "m", "1 h", "-1s", "1y"])
def test_other_spans_name_the_flag(text: str) -> None:
    with pytest.raises(SettingError, match="metrics-relist-interval: "):
        MetricsSettings(metrics_relist_interval=text)


def test_the_age_of_series_is_the_relist_interval_unless_it_is_given() -> None:
    assert MetricsSettings(metrics_relist_interval="1m").max_age_seconds == 60
    assert MetricsSettings(metrics_max_age="20m").max_age_seconds == 1200


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"metrics_max_age": "1m"}, "metrics-max-age: must not be below the relist interval"),
        ({"metrics_relist_interval": "0"}, "metrics-relist-interval: must be above 0"),
        ({"metrics_cache": "2m"}, "metrics-cache: must be at most 1m"),
        ({"forecast_max_age": "0"}, "forecast-max-age: must be above 0"),
    ],
)
def test_what_cannot_work_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        MetricsSettings(**given)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"tls_cert_file": Path("a")}, "tls-private-key-file: missing"),
        ({"tls_private_key_file": Path("a")}, "tls-cert-file: missing"),
        ({"tls_name": ()}, "tls-name: "),
        ({"secure_port": 70000}, "secure-port: "),
        ({"without_cluster": True}, "without-cluster: nobody can authorize"),
        ({"metrics_address": "localhost"}, "metrics-address: 'localhost' is not HOST:PORT"),
    ],
)
def test_serving_that_cannot_work_is_refused(given: dict[str, Any], words: str) -> None:
    with pytest.raises(SettingError, match=words):
        ServingSettings(**given)


def test_the_metrics_address_may_be_ipv6_or_any() -> None:
    assert ServingSettings(metrics_address="[::1]:0").metrics_host_and_port == ("::1", 0)
    assert ServingSettings(metrics_address=":9405").metrics_host_and_port == ("", 9405)
