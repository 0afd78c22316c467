import asyncio
from contextlib import AsyncExitStack, suppress
from pathlib import Path
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.types import Scope

from fakes.plane_server import Fault, Plane, plane_server
from fakes.skewed_clock import SkewedClock, World
from gputide.kube.client import KubeClient
from gputide.kube.membership import LABEL, Membership, MembershipTerms, owner_of
from gputide.kube.model import LEASES

NAMESPACE, GROUP = "gputide-system", "autoscaler"
KEYS = [f"default/web-{n}" for n in range(40)]
NAMES = st.sets(st.text("abcxyz-0123", min_size=1, max_size=8), min_size=1, max_size=6)


class Replicas:
    """Replicas of one group, on machines of their own."""

    def __init__(self, plane: Plane, clocks: list[SkewedClock]) -> None:
        self.plane = plane
        self.world = clocks[0].world
        self.clocks = clocks
        self.clients = [KubeClient(plane.settings, clock=one, random=lambda: 0.5) for one in clocks]
        self.all = [self.new(n) for n in range(len(clocks))]

    def new(self, n: int) -> Membership:
        """Return a replica that starts."""
        terms = MembershipTerms(namespace=NAMESPACE, group=GROUP, identity=f"Pod_{n}")
        return Membership(self.clients[n], terms, self.clocks[n], random=lambda: 0.5)

    def owners(self, key: str) -> list[int]:
        return [n for n, one in enumerate(self.all) if one.may_write and one.is_mine(key)]

    def check(self) -> None:
        for key in KEYS:
            assert len(self.owners(key)) <= 1

    def counts(self) -> list[int]:
        owned = [self.owners(key) for key in KEYS]
        return [owned.count([n]) for n in range(len(self.all))]

    async def pass_seconds(self, seconds: float, *taking_part: int) -> None:
        end = self.world.seconds + seconds
        while self.world.seconds < end:
            for n in taking_part:
                await self.all[n].attempt()
                self.check()
            self.world.seconds += 2
            self.check()


async def replicas(stack: AsyncExitStack, folder: Path, *rates: float) -> Replicas:
    plane = await stack.enter_async_context(plane_server(folder))
    world = World()
    made = Replicas(plane, [SkewedClock(world, 1e6 * n, rate) for n, rate in enumerate(rates)])
    for client in made.clients:
        await stack.enter_async_context(client)
    return made


@given(members=NAMES, key=st.text(max_size=20))
def test_a_key_has_one_owner_and_stays_when_another_member_goes(
    members: set[str], key: str
) -> None:
    owner = owner_of(key, members)

    assert owner in members
    for other in members - {owner}:
        assert owner_of(key, members - {other}) == owner


def test_keys_are_spread_evenly_enough() -> None:
    owned = [owner_of(f"default/web-{n}", ("a", "b", "c", "d")) for n in range(4000)]

    assert all(900 < owned.count(member) < 1100 for member in "abcd")
    assert owner_of("key", ()) == ""


async def test_a_replica_alone_owns_everything_once_nobody_can_think_otherwise(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0)
        await made.pass_seconds(14, 0)
        early = made.counts()
        await made.pass_seconds(4, 0)

        assert early == [0]
        assert made.counts() == [len(KEYS)]
        assert made.all[0].is_mine(KEYS[0])


async def test_a_second_replica_takes_its_share_after_the_first_let_go(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(20, 0)
        await made.pass_seconds(4, 0, 1)
        between = made.counts()
        await made.pass_seconds(20, 0, 1)
        after = made.counts()

    assert between[1] == 0
    assert 0 < between[0] < len(KEYS)  # what goes to the other is nobody's meanwhile
    assert sum(after) == len(KEYS)
    assert after[0] == between[0]


async def test_a_replica_that_says_goodbye_is_not_waited_for(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(20, 0, 1)
        await made.all[1].leave()
        assert made.counts()[1] == 0
        await made.pass_seconds(2, 0)

        assert made.counts() == [len(KEYS), 0]


async def test_a_replica_that_dies_is_replaced_when_it_cannot_write_any_more(
    tmp_path: Path,
) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(20, 0, 1)
        share = made.counts()[0]
        await made.pass_seconds(12, 0)
        assert made.counts() == [share, 0]
        await made.pass_seconds(6, 0)

        assert made.counts() == [len(KEYS), 0]


async def test_a_lease_that_somebody_deletes_is_waited_out(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(20, 0, 1)
        await made.clients[0].delete(LEASES, NAMESPACE, "autoscaler-pod-1")
        await made.pass_seconds(4, 0)

        assert len(made.all[0].members) == 2


async def test_a_server_that_is_away_stops_the_writes_and_keeps_the_shares(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(20, 0, 1)
        mine = [key for key in KEYS if made.all[0].is_mine(key)]
        made.plane.fault = lambda _scope: Fault(code=500)
        await made.pass_seconds(12, 0, 1)

        assert made.counts() == [0, 0]
        assert [key for key in KEYS if made.all[0].is_mine(key)] == mine


async def test_a_replica_that_cannot_see_the_others_stops_writing(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0)
        await made.pass_seconds(20, 0)
        made.plane.fault = lambda scope: Fault(code=500) if scope["method"] == "GET" else None
        await made.pass_seconds(12, 0)

        assert made.counts() == [0]


async def test_the_leases_of_replicas_long_gone_are_deleted(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0, 1.0)
        await made.pass_seconds(4, 0, 1)
        await made.all[0].attempt()
        made.world.seconds += 1000
        await made.all[0].attempt()
        listed = await made.clients[0].list(
            LEASES, NAMESPACE, label_selector=f"{LABEL}={GROUP}", decode=dict
        )

    assert [one["metadata"]["name"] for one in listed.items] == ["autoscaler-pod-0"]


async def test_a_replica_that_is_stopped_says_goodbye(tmp_path: Path) -> None:
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 1.0)
        task = asyncio.create_task(made.all[0].run())
        await made.all[0].wait_seen()
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
        lease = await made.clients[0].get(LEASES, NAMESPACE, "autoscaler-pod-0")

    assert not lease["spec"].get("holderIdentity")


@pytest.mark.parametrize("seed", range(6))
async def test_never_two_own_a_key_whatever_fails_and_however_the_clocks_run(
    tmp_path: Path, seed: int
) -> None:
    chance = Random(seed)
    async with AsyncExitStack() as stack:
        made = await replicas(stack, tmp_path, 0.95, 1.0, 1.05)
        owned = set()

        def pass_time(_scope: Scope) -> None:
            made.world.seconds += 9 * (chance.random() < 0.02)
            made.check()
            owned.update(n for n, count in enumerate(made.counts()) if count)

        def fault(scope: Scope) -> Fault | None:
            pass_time(scope)
            if chance.random() < 0.95:
                return None
            return Fault(code=chance.choice((500, 503)), is_done=chance.random() < 0.5)

        made.plane.fault, made.plane.after = fault, pass_time
        for _ in range(150):
            n = chance.randrange(3)
            if chance.random() < 0.01:
                await made.all[n].leave()
            if chance.random() < 0.01:
                made.all[n] = made.new(n)  # killed, and started again
            await made.all[n].attempt()
            made.world.seconds += chance.choice((0, 0.5, 1, 1, 14 * (chance.random() < 0.02)))
            made.check()
        made.plane.fault = lambda _scope: None
        made.plane.after = lambda _scope: None
        await made.pass_seconds(40, 0, 1, 2)

        assert sum(made.counts()) == len(KEYS)
        assert len(owned) > 1
