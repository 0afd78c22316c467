import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from random import Random
from typing import Any

import pytest
from starlette.types import Scope

from fakes.plane_server import Fault, Plane, plane_server
from fakes.skewed_clock import SkewedClock, World
from gputide.kube.client import KubeClient
from gputide.kube.lease import Election, LeaseTerms
from gputide.kube.model import LEASES

NAMESPACE, NAME = "gputide-system", "test"


class Electors:
    """Some electors of one lease, on machines of their own."""

    def __init__(self, plane: Plane, world: World, *clocks: SkewedClock) -> None:
        self.plane = plane
        self.world = world
        self.clocks = clocks
        self.clients = [
            KubeClient(plane.settings, clock=clock, random=lambda: 0.5) for clock in clocks
        ]
        self.all = [
            Election(
                client,
                LeaseTerms(namespace=NAMESPACE, name=NAME, identity=f"elector-{n}"),
                clock,
                random=lambda: 0.5,
            )
            for n, (client, clock) in enumerate(zip(self.clients, clocks, strict=True))
        ]

    @property
    def leaders(self) -> list[int]:
        return [n for n, one in enumerate(self.all) if one.is_leader]

    async def lease(self) -> dict[str, Any]:
        spec: dict[str, Any] = (await self.clients[0].get(LEASES, NAMESPACE, NAME))["spec"]
        return spec


async def electors(stack: AsyncExitStack, folder: Path, *clocks: SkewedClock) -> Electors:
    plane = await stack.enter_async_context(plane_server(folder))
    made = Electors(plane, clocks[0].world, *clocks)
    for client in made.clients:
        await stack.enter_async_context(client)
    return made


async def two(stack: AsyncExitStack, folder: Path) -> Electors:
    world = World()
    ahead = SkewedClock(world, 5000.0, now_offset_seconds=9.0)
    return await electors(stack, folder, SkewedClock(world), ahead)


async def test_the_first_leads_and_the_others_wait(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        for one in made.all:
            await one.attempt()

        assert made.leaders == [0]
        assert made.all[1].holder == "elector-0"
        assert (await made.lease())["holderIdentity"] == "elector-0"


async def test_a_leader_that_renews_stays_however_wrong_the_calendars_are(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        for _ in range(30):
            for one in made.all:
                await one.attempt()
            made.world.seconds += 2
            assert made.leaders == [0]
        assert (await made.lease())["leaseTransitions"] == 0


async def test_a_leader_that_stops_renewing_steps_down_before_another_steps_up(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        await made.all[0].attempt()
        seen = []
        for _ in range(10):
            await made.all[1].attempt()
            seen.append(made.leaders)
            made.world.seconds += 2

        assert [0] in seen
        assert [] in seen
        assert seen[-1] == [1]
        assert (await made.lease())["leaseTransitions"] == 1


async def test_who_is_stopped_gives_the_lease_back_so_that_nobody_waits(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        first = asyncio.create_task(made.all[0].run())
        await made.clocks[0].asleep.wait()
        first.cancel()
        with suppress(asyncio.CancelledError):
            await first
        assert made.leaders == []
        assert (await made.lease())["holderIdentity"] == ""
        await made.all[1].attempt()

        assert made.leaders == [1]


async def test_what_is_somebody_elses_is_not_given_back(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        await made.all[0].attempt()
        await made.all[1].attempt()
        made.world.seconds += 16
        await made.all[1].attempt()
        await made.all[0].release()

        assert (await made.lease())["holderIdentity"] == "elector-1"


async def test_a_server_that_fails_costs_the_leader_its_lead_in_time(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        await made.all[0].attempt()
        made.plane.fault = lambda _scope: Fault(code=500)
        for _ in range(4):
            made.world.seconds += 2
            await made.all[0].attempt()
        assert made.leaders == [0]
        made.world.seconds += 2

        assert made.leaders == []
        await made.all[0].release()
        made.plane.fault = lambda _scope: None
        await made.all[0].attempt()
        assert made.leaders == [0]


async def test_a_renewal_whose_answer_came_late_counts_from_when_it_was_sent(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)

        def slow(scope: Scope) -> None:
            made.world.seconds += 11 if scope["method"] == "POST" else 0

        made.plane.after = slow
        await made.all[0].attempt()

        assert made.leaders == []


@pytest.mark.parametrize("spec", [{}, {"holderIdentity": "x", "leaseDurationSeconds": None}])
async def test_a_lease_that_says_little_is_judged_by_our_own_terms(
    tmp_path: Path, spec: dict[str, Any]
) -> None:
    async with AsyncExitStack() as stack:
        made = await two(stack, tmp_path)
        obj = {"metadata": {"name": NAME, "namespace": NAMESPACE}, "spec": spec}
        await made.clients[0].create(LEASES, NAMESPACE, obj)
        await made.all[0].attempt()
        assert made.leaders == ([] if spec else [0])
        made.world.seconds += 15
        await made.all[0].attempt()

        assert made.leaders == [0]


@pytest.mark.parametrize("seed", range(6))
async def test_never_two_lead_whatever_fails_and_however_the_clocks_run(
    tmp_path: Path, seed: int
) -> None:
    chance = Random(seed)
    async with AsyncExitStack() as stack:
        world = World()
        clocks = [
            SkewedClock(world, chance.uniform(-1e6, 1e6), rate, chance.uniform(-1e9, 1e9))
            for rate in (0.95, 1.0, 1.05)
        ]
        made = await electors(stack, tmp_path, *clocks)
        led = set()

        def check() -> None:
            assert len(made.leaders) <= 1
            led.update(made.leaders)

        def fault(_scope: Scope) -> Fault | None:
            world.seconds += chance.choice((0, 0, 0, 0.1, 3, 9))
            check()
            if chance.random() < 0.75:
                return None
            return Fault(code=chance.choice((500, 503, 429)), is_done=chance.random() < 0.5)

        def after(_scope: Scope) -> None:
            world.seconds += chance.choice((0, 0, 0, 0.1, 3, 9))
            check()

        made.plane.fault, made.plane.after = fault, after
        for _ in range(150):
            one = chance.choice(made.all)
            if chance.random() < 0.03:
                await one.release()
            await one.attempt()
            world.seconds += chance.choice((0, 0.5, 2, 2, 2, 12))
            check()

        assert len(led) > 1
