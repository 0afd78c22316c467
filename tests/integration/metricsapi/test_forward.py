"""Chaining: what we do not know is asked of a second server of external metrics."""

import json

import pytest

from fakes.clock import FakeClock
from fakes.http_server import Request, http_server, response
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.forward import FORWARDED, Forwarding
from gputide.metricsapi.peers import Peer, PeerSettings
from gputide.metricsapi.ports import ExternalAsk, Measured

ITEM = {
    "metricName": "s0-prometheus",
    "metricLabels": None,
    "timestamp": "2026-03-02T00:00:45Z",
    "value": "1500m",
}
ASK = ExternalAsk(
    namespace="default", metric="s0-prometheus", selector="scaledobject.keda.sh/name=web"
)


def keda(request: Request) -> bytes:
    """Answer as KEDA's metrics server does."""
    path = request.target.partition("?")[0]
    if path == "/apis/external.metrics.k8s.io/v1beta1":
        return response(json.dumps({"resources": [{"name": "externalmetrics"}]}).encode())
    if path.endswith("/s0-prometheus"):
        listed = {"kind": "ExternalMetricValueList", "metadata": {}, "items": [ITEM]}
        return response(json.dumps(listed).encode())
    return response(b'{"kind": "Status", "code": 404, "message": "none"}', "404 Not Found")


def forwarding(url: str) -> Forwarding:
    clock = FakeClock()
    settings = PeerSettings(flag="forward", url=url, headers=(FORWARDED,))
    return Forwarding(Peer(settings, clock), clock)


async def test_the_others_value_time_and_labels_come_as_they_were() -> None:
    async with http_server(keda) as server:
        other = forwarding(server.url)
        found = await other.read(ASK)
        await other.close()

    assert found == [Measured(value="1500m", at_seconds=1_772_409_645)]
    assert server.requests[0].target.endswith("labelSelector=scaledobject.keda.sh%2Fname%3Dweb")
    assert server.requests[0].headers["x-gputide-forwarded"] == "1"


async def test_what_it_does_not_know_is_nobodys() -> None:
    async with http_server(keda) as server:
        other = forwarding(server.url)
        assert await other.read(ExternalAsk(namespace="n", metric="m")) is None
        await other.close()


async def test_a_question_that_was_sent_on_already_goes_no_further() -> None:
    other = forwarding("http://127.0.0.1:1")

    assert await other.read(ExternalAsk(namespace="n", metric="m", is_forwarded=True)) is None
    await other.close()


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (response(b"", "500 Internal Server Error"), "s0-prometheus was asked of .*HTTP 500"),
        (response(b"[]"), "answers with no list of values"),
    ],
)
async def test_a_server_that_fails_is_unavailable_not_absent(answer: bytes, words: str) -> None:
    async with http_server(lambda _: answer) as server:
        other = forwarding(server.url)
        with pytest.raises(StatusError, match=words) as caught:
            await other.read(ASK)
        await other.close()

    assert caught.value.code == 503


async def test_its_names_are_told_from_memory_and_kept_while_it_is_down() -> None:
    async with http_server(keda) as server:
        other = forwarding(server.url)
        assert other.names() == ()
        await other.discover()
        assert (other.names(), other.problem) == (("externalmetrics",), "")
    await other.discover()

    assert other.names() == ("externalmetrics",)
    assert "cannot connect" in other.problem
    await other.close()
