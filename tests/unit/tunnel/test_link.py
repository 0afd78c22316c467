import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from fakes.carrier import FakeCarrier, joined
from gputide.clock import SystemClock
from gputide.errors import InputError
from gputide.tunnel.exchange import Exchange
from gputide.tunnel.link import Link
from gputide.tunnel.model import CarrierClosedError, TunnelRefusedError
from gputide.tunnel.protocol import (
    Call,
    Code,
    Hello,
    PeerProtocolError,
    Pipe,
    Reply,
    Request,
    Scrape,
    Session,
    Side,
)

PAGE = b"DCGM_FI_DEV_GPU_UTIL 42\n" * 100_000
SCRAPE = Scrape(node="n", port=9400, path="/metrics", timeout_ms=1000)


class Site:
    """Answers as an agent would; what it does depends on the node that is asked for."""

    async def handle(self, request: Request, exchange: Exchange) -> None:
        if isinstance(request, Call):
            if request.method == "silence":
                await asyncio.Event().wait()
            exchange.accept(Reply(result={"echo": request.params}), is_finished=True)
        elif isinstance(request, Scrape):
            if request.node == "forbidden":
                raise TunnelRefusedError(Code.NOT_ALLOWED, "not on the list")
            if request.node == "broken":
                raise InputError("page", "no page")
            if request.node == "bug":
                raise ZeroDivisionError
            exchange.accept(Reply(size=len(PAGE)))
            await exchange.write(PAGE)
        else:
            exchange.accept(Reply())
            async for data in exchange:
                await exchange.write(data.upper())


@asynccontextmanager
async def linked() -> AsyncIterator[tuple[Link, Link, tuple[FakeCarrier, FakeCarrier]]]:
    carriers = joined()
    clock = SystemClock()
    links = [
        Link(carrier, Session(side, Hello(), now_seconds=clock.monotonic_seconds()), Site(), clock)
        for side, carrier in zip((Side.GATEWAY, Side.AGENT), carriers, strict=True)
    ]
    runs = [asyncio.create_task(link.run()) for link in links]
    await links[0].wait_greeted()
    try:
        yield links[0], links[1], carriers
    finally:
        for run in runs:
            run.cancel()
        await asyncio.gather(*runs, return_exceptions=True)


async def test_a_page_comes_over_whole_and_its_size_is_bounded() -> None:
    async with linked() as (gateway, agent, _):
        exchange = gateway.open(SCRAPE, is_finished=True)
        assert (await exchange.reply()).size == len(PAGE)
        assert await exchange.read_all(max_bytes=len(PAGE)) == PAGE

        large = gateway.open(SCRAPE, is_finished=True)
        with pytest.raises(TunnelRefusedError, match="more than 1000 bytes") as caught:
            await large.read_all(max_bytes=1000)
        assert caught.value.code is Code.TOO_LARGE
        assert await gateway.call("after") == {"echo": {}}
        assert agent.exchange_count == 0


async def test_a_pipe_carries_bytes_both_ways_and_ends_with_both_sides() -> None:
    async with linked() as (gateway, _, _carriers):
        exchange = gateway.open(Pipe(node="n", port=22, timeout_ms=1000))
        await exchange.write(b"hello ")
        await exchange.write(b"edge")
        exchange.finish()
        assert await exchange.read_all(max_bytes=100) == b"HELLO EDGE"


async def test_a_refusal_a_failure_and_a_bug_reach_whoever_asked_and_spare_the_neighbours() -> None:
    async with linked() as (gateway, _, _carriers):
        for node, code, text in (
            ("forbidden", Code.NOT_ALLOWED, "not on the list"),
            ("broken", Code.FAILED, "page: no page"),
            ("bug", Code.FAILED, "an internal error; the log of that side has it"),
        ):
            request = Scrape(node=node, port=1, path="/", timeout_ms=1000)
            with pytest.raises(TunnelRefusedError) as caught:
                await gateway.open(request, is_finished=True).reply()
            assert (caught.value.code, caught.value.text) == (code, text)
        assert await gateway.call("echo", {"a": 1}) == {"echo": {"a": 1}}


async def test_both_sides_may_call_and_a_call_has_a_deadline() -> None:
    async with linked() as (gateway, agent, _):
        assert await agent.call("echo", {"b": [1, None]}) == {"echo": {"b": [1, None]}}
        with pytest.raises(TunnelRefusedError, match=r"silence: no answer in 0\.05 s"):
            await gateway.call("silence", timeout_seconds=0.05)
        assert await gateway.call("echo") == {"echo": {}}


async def test_when_the_connection_breaks_every_exchange_under_way_says_so() -> None:
    async with linked() as (gateway, _agent, carriers):
        exchange = gateway.open(Pipe(node="n", port=22, timeout_ms=1000))
        await exchange.reply()
        await carriers[1].close("cut")
        with pytest.raises(TunnelRefusedError, match="the link is down: closed by the other side"):
            await exchange.read()
        with pytest.raises(TunnelRefusedError, match="the link is down"):
            gateway.open(SCRAPE)


async def test_a_drained_link_ends_without_an_error_when_its_exchanges_are_done() -> None:
    carriers = joined()
    clock = SystemClock()
    gateway, agent = (
        Link(carrier, Session(side, Hello(), now_seconds=clock.monotonic_seconds()), Site(), clock)
        for side, carrier in zip((Side.GATEWAY, Side.AGENT), carriers, strict=True)
    )
    async with asyncio.timeout(5), asyncio.TaskGroup() as group:
        running = group.create_task(gateway.run())
        other = group.create_task(_until_closed(agent))
        await gateway.wait_greeted()
        exchange = gateway.open(Pipe(node="n", port=22, timeout_ms=1000))
        await exchange.reply()
        gateway.drain("upgrade")
        await exchange.write(b"last")
        exchange.finish()
        assert await exchange.read_all(max_bytes=10) == b"LAST"
        await running
        await other


async def _until_closed(link: Link) -> None:
    try:
        await link.run()
    except CarrierClosedError:
        return


async def test_a_peer_that_breaks_the_protocol_ends_the_link_with_the_reason() -> None:
    carriers = joined()
    clock = SystemClock()
    session = Session(Side.GATEWAY, Hello(), now_seconds=clock.monotonic_seconds())
    link = Link(carriers[0], session, Site(), clock)
    await carriers[1].send(b"\xff" * 20)
    with pytest.raises(PeerProtocolError, match="frame of 4294967295 bytes"):
        await asyncio.wait_for(link.run(), 5)
    assert carriers[0].close_reason is not None
