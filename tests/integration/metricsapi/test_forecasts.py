"""The forecast endpoint over HTTP: shards, tokens, TLS, failures."""

import ssl
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
import trustme

from fakes.clock import FakeClock
from fakes.forecast_endpoint import NOW, autoscaler, detail
from fakes.http_server import http_server, response
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.forecasts import HttpForecasts
from gputide.metricsapi.peers import Peer, PeerSettings

BOUNDS = CacheBounds(seconds=1)


def forecasts(urls: Sequence[str], **rest: Any) -> HttpForecasts:  # noqa: ANN401 any setting
    clock = FakeClock(NOW)
    peers = [Peer(PeerSettings(flag="forecast", url=url, **rest), clock) for url in urls]
    return HttpForecasts(peers, clock, BOUNDS)


async def test_shards_are_one_list_in_order_and_the_newest_of_two_counts() -> None:
    first = autoscaler(detail("b"), detail("moved", issuedAt=NOW - 100, demand=1.0))
    second = autoscaler(detail("a"), detail("moved", issuedAt=NOW - 10, demand=2.0))
    async with http_server(first) as one, http_server(second) as two:
        asked = forecasts([one.url, two.url])
        found = await asked.summaries()
        moved = await asked.detail("default", "moved")

        assert [(item.name, item.demand) for item in found] == [
            ("a", 1.89),
            ("b", 1.89),
            ("moved", 2.0),
        ]
        assert moved.demand == 2.0
        with pytest.raises(StatusError, match='"absent" not found') as caught:
            await asked.detail("default", "absent")
        assert caught.value.code == 404
        await asked.close()


async def test_a_shard_that_is_down_hides_only_its_own_and_absence_is_not_certain_then() -> None:
    async with http_server(autoscaler(detail("b"))) as one:
        asked = forecasts([one.url, "http://127.0.0.1:1"])

        assert [item.name for item in await asked.summaries()] == ["b"]
        assert (await asked.detail("default", "b")).name == "b"
        with pytest.raises(StatusError, match="cannot connect") as caught:
            await asked.detail("default", "a")
        assert caught.value.code == 503
        assert asked.failures == 3
        await asked.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (response(b"<html>"), "unexpected answer"),
        (response(b'{"items": [{}]}'), "missing required field"),
        (response(b"", "500 Internal Server Error"), "HTTP 500"),
    ],
)
async def test_an_endpoint_that_answers_nonsense_is_unavailable(answer: bytes, words: str) -> None:
    async with http_server(lambda _: answer) as server:
        asked = forecasts([server.url])
        with pytest.raises(StatusError, match=words) as caught:
            await asked.summaries()
        assert caught.value.code == 503
        await asked.close()


async def test_without_an_autoscaler_everything_is_unavailable_and_says_the_flag() -> None:
    for asking in (forecasts([]).summaries(), forecasts([]).detail("n", "a")):
        with pytest.raises(StatusError, match="forecast-url"):
            await asking


async def test_the_token_is_shown_over_tls_and_read_again(tmp_path: Path) -> None:
    authority = trustme.CA()
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    token = tmp_path / "token"
    token.write_text("wrong\n")
    async with http_server(autoscaler(detail(), token="right"), tls=context) as server:
        asked = forecasts([server.url], bearer_token_file=token, ca_file=tmp_path / "ca.crt")
        with pytest.raises(StatusError, match="HTTP 401"):
            await asked.summaries()
        token.write_text("right-now\n")
        token.write_text("right\n")

        assert len(await asked.summaries()) == 1
        await asked.close()


async def test_a_thousand_askers_in_a_second_cost_one_request() -> None:
    async with http_server(autoscaler(detail())) as server:
        asked = forecasts([server.url])
        for _ in range(1000):
            await asked.summaries()

        assert len(server.requests) == 1
        await asked.close()
