from collections.abc import Mapping
from types import SimpleNamespace
from typing import Any, cast

import pytest
import yaml
from structlog.testing import capture_logs

from fakes.shared import TUTORIALS
from gputide.autoscaler.sources import Address, PrometheusChoice, address_from
from gputide.kube.mirror import Mirror
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

KEY = ("kube-system", "application-intelligence")


def config_map(**data: str) -> dict[str, Any]:
    return {"metadata": {"name": KEY[1], "namespace": KEY[0]}, "data": data}


class Used:
    """What a reader of demand was given."""

    def __init__(self, objects: Mapping[tuple[str, str], Address]) -> None:
        self.clients: list[Prometheus | None] = []
        self.objects = dict(objects)
        self.why = ""
        mirror = cast("Mirror[Address]", SimpleNamespace(objects=self.objects, problem=""))
        self.choice = PrometheusChoice(None, mirror, self.use)

    def use(self, client: Prometheus | None, why: str) -> None:
        """Take what is handed out."""
        self.clients.append(client)
        self.why = why

    @property
    def target(self) -> str | None:
        client = self.clients[-1]
        return None if client is None else client.target


def test_the_current_name_of_the_url_wins_over_the_old_one() -> None:
    both = config_map(armsUrl="http://old:9090", prometheusUrl=" http://new:9090 ", token="t")
    assert address_from(both) == Address(url="http://new:9090", token="t")
    assert address_from(config_map(armsUrl="http://old:9090")) == Address(url="http://old:9090")
    assert address_from({}) == Address()


def test_a_token_is_in_no_representation() -> None:
    assert "secret" not in repr(Address(url="http://user:secret@h", token="secret"))


@pytest.mark.shared
def test_the_tutorials_own_config_map_is_taken() -> None:
    text = (TUTORIALS / "application-intelligence.yaml").read_text(encoding="utf-8")
    found = address_from(yaml.safe_load(text))
    assert found is not None
    PrometheusSettings(url=found.url)


async def test_a_change_of_the_config_map_changes_the_server() -> None:
    used = Used({KEY: Address(url="http://one:9090")})
    await used.choice.look()
    assert used.target == "http://one:9090"
    await used.choice.look()
    assert len([client for client in used.clients if client]) == 1
    used.objects[KEY] = Address(url="http://two:9090", unused=("prometheus_writer_url",))
    with capture_logs() as logs:
        await used.choice.look()
    assert used.target == "http://two:9090"
    assert logs[0]["keys"] == ("prometheus_writer_url",)
    await used.choice.close()
    assert used.target is None


async def test_a_missing_or_wrong_address_is_named() -> None:
    used = Used({})
    await used.choice.look()
    assert used.target is None
    where = "ConfigMap kube-system/application-intelligence"
    assert used.why == f"{where} is not there, and no flag names a Prometheus"
    used.objects[KEY] = Address(token="alone")
    await used.choice.look()
    assert used.why.startswith(f"{where} names no prometheusUrl or armsUrl")
    used.objects[KEY] = Address(url="ftp://nowhere")
    await used.choice.look()
    assert used.target is None
    assert used.why.startswith(f"{where}: prometheus-url: ")


async def test_flags_win_over_the_config_map() -> None:
    used = Used({})
    choice = PrometheusChoice(PrometheusSettings(url="http://flag:9090"), None, used.use)
    await choice.start()
    await choice.follow()
    assert len(used.clients) == 1
    assert used.target == "http://flag:9090"
    await choice.close()
