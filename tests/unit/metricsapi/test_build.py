"""The parts that settings ask for."""

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest

from fakes.clock import FakeClock
from gputide.errors import SettingError
from gputide.metricsapi.build import Asked, build, prometheus_settings, shards
from gputide.metricsapi.settings import SERVICE_ACCOUNT, MetricsSettings, ServingSettings
from gputide.prometheus.settings import PrometheusSettings

ALONE = ServingSettings(without_cluster=True, authorization="none")


def asked(url: str = "https://p.example", **metrics: Any) -> Asked:  # noqa: ANN401 any setting
    return Asked(
        serving=ALONE,
        metrics=MetricsSettings(**metrics),
        prometheus=PrometheusSettings(url=url) if url else None,
    )


def test_the_pods_account_is_shown_to_prometheus_where_that_is_wanted() -> None:
    found = prometheus_settings(asked(prometheus_auth_incluster=True))
    plain = prometheus_settings(asked("http://p.example", prometheus_auth_incluster=True))

    assert found is not None
    assert plain is not None
    assert found.bearer_token_file == SERVICE_ACCOUNT / "token"
    assert (found.ca_file, plain.ca_file) == (SERVICE_ACCOUNT / "ca.crt", None)
    assert prometheus_settings(asked()) == PrometheusSettings(url="https://p.example")
    with pytest.raises(SettingError, match="needs a prometheus-url"):
        prometheus_settings(asked("", prometheus_auth_incluster=True))


def test_each_shard_has_the_same_credentials() -> None:
    token = Path("token")
    found = shards(
        MetricsSettings(forecast_url=("http://a", "http://b"), forecast_token_file=token)
    )

    assert [(one.url, one.bearer_token_file) for one in found] == [
        ("http://a", token),
        ("http://b", token),
    ]


async def test_sources_are_asked_for_by_what_is_set() -> None:
    async with AsyncExitStack() as stack:
        none = await build(asked(), FakeClock(), stack)
        both = await build(
            asked(forecast_url=("http://a",), forward_url="http://b"), FakeClock(), stack
        )

    assert (len(none.works), none.forwarding) == (0, None)
    assert len(both.works) == 1
    assert both.forwarding is not None


async def test_rules_need_a_prometheus(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        with pytest.raises(SettingError, match="config: rules need a prometheus-url"):
            await build(asked("", config=tmp_path / "rules.yaml"), FakeClock(), stack)
