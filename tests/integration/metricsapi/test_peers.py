"""Other servers over HTTP."""

import pytest

from fakes.clock import FakeClock
from fakes.http_server import http_server, response
from gputide.errors import SettingError
from gputide.metricsapi.peers import Peer, PeerError, PeerSettings


async def test_parts_of_a_path_stay_parts_and_parameters_are_escaped() -> None:
    async with http_server(lambda _: response(b"fine")) as server:
        peer = Peer(PeerSettings(flag="forward", url=f"{server.url}/base"), FakeClock())
        body = await peer.get(("a", "b/c"), [("labelSelector", "a=b,c in (d)")])
        await peer.close()

    assert body == b"fine"
    assert server.requests[0].target == "/base/a/b%2Fc?labelSelector=a%3Db%2Cc+in+%28d%29"


async def test_errors_name_our_flags() -> None:
    with pytest.raises(SettingError, match=r"^forward-url: must look like"):
        Peer(PeerSettings(flag="forward", url="nowhere"), FakeClock())


async def test_a_refusal_keeps_its_status() -> None:
    async with http_server(lambda _: response(b"", "404 Not Found")) as server:
        peer = Peer(PeerSettings(flag="forward", url=server.url), FakeClock())
        with pytest.raises(PeerError) as caught:
            await peer.get(("x",))
        await peer.close()

    assert (caught.value.status, caught.value.problem) == (404, "HTTP 404")
