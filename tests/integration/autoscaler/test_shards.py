"""Two controllers in one process share autoscalers on one server, and never write for one both."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager, suppress
from pathlib import Path

import yaml
from starlette.types import Scope

from fakes.ahpa_yaml import ahpa_yaml
from fakes.plane_server import Plane, plane_server
from fakes.skewed_clock import SkewedClock, World
from gputide.autoscaler.model import Key
from gputide.autoscaler.run import Controller, new_controller
from gputide.autoscaler.settings import AutoscalerSettings
from gputide.cli.autoscaler import _election, _membership
from gputide.kube.client import KubeClient
from gputide.kube.model import AUTOSCALERS

DEFINITION = Path(__file__).parents[3] / "deploy/manifests/crd-ahpa.yaml"
NAMES = [f"web-{n}" for n in range(8)]
KEYS = [Key(namespace="default", name=name) for name in NAMES]
SHARDS, SINGLE = AutoscalerSettings(shards=True), AutoscalerSettings()


class Fleet:
    """Controllers on machines of their own; a round of each is made by hand."""

    def __init__(self, plane: Plane, admin: KubeClient) -> None:
        self.plane = plane
        self.admin = admin
        self.world = World()
        self.all: list[Controller] = []
        self.working = -1
        self.wrote: dict[str, list[int]] = {name: [] for name in NAMES}
        self.generation = 1
        plane.fault = self._note

    def _note(self, scope: Scope) -> None:
        path = scope["path"].split("/")
        if scope["method"] == "PATCH" and path[-1] == "status":
            key = Key(namespace="default", name=path[-2])
            assert [n for n, one in enumerate(self.all) if one.may_write(key)] == [self.working]
            self.wrote[path[-2]].append(self.working)

    async def add(self, stack: AsyncExitStack, settings: AutoscalerSettings) -> None:
        n = len(self.all)
        clock = SkewedClock(self.world, 1e5 * n)
        client = await stack.enter_async_context(KubeClient(self.plane.settings, clock=clock))
        identity = f"controller-{n}"
        made = new_controller(
            client,
            clock,
            settings,
            election=_election(settings, client, clock, identity),
            membership=_membership(settings, client, clock, identity),
        )
        await stack.enter_async_context(following(made))
        self.all.append(made)

    async def pass_seconds(self, seconds: float, *taking_part: int) -> None:
        """Let time pass; those that take part renew their leases and make rounds."""
        end = self.world.seconds + seconds
        while self.world.seconds < end:
            for n in taking_part:
                one = self.all[n]
                if one.election is not None:
                    await one.election.attempt()
                if one.membership is not None:
                    await one.membership.attempt()
            await self._change()
            for n in taking_part:
                self.working = n
                await self.all[n].control.once()
            self.world.seconds += 2

    async def _change(self) -> None:
        """Change each autoscaler, so that each has a new status to be told."""
        self.generation += 1
        spec = {"spec": {"maxReplicas": 100 + self.generation}}
        for name in NAMES:
            await self.admin.patch(AUTOSCALERS, "default", name, spec)
        for one in self.all:
            declared = one.control.caches.declared
            async with asyncio.timeout(10):
                while not self._is_known(one):
                    await declared.wait_changed()

    def _is_known(self, one: Controller) -> bool:
        found = [declared.generation for declared in one.control.caches.declared.objects.values()]
        return found == [self.generation] * len(NAMES)

    def newest(self, count: int) -> list[set[int]]:
        """Return who wrote each autoscaler's newest statuses."""
        return [set(self.wrote[name][-count:]) for name in NAMES]


@asynccontextmanager
async def following(controller: Controller) -> AsyncIterator[None]:
    task = asyncio.create_task(controller.control.caches.run())
    try:
        await controller.control.caches.wait_synced()
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


@asynccontextmanager
async def fleet(folder: Path, *settings: AutoscalerSettings) -> AsyncIterator[Fleet]:
    definition = yaml.safe_load(DEFINITION.read_text())
    async with AsyncExitStack() as stack:
        plane = await stack.enter_async_context(plane_server(folder, definitions=[definition]))
        admin = await stack.enter_async_context(KubeClient(plane.settings))
        autoscaler = yaml.safe_load(ahpa_yaml())
        for name in NAMES:
            autoscaler["metadata"]["name"] = name
            await admin.create(AUTOSCALERS, "default", autoscaler)
        made = Fleet(plane, admin)
        for one in settings:
            await made.add(stack, one)
        yield made


async def test_two_share_the_autoscalers_and_each_tells_its_own(tmp_path: Path) -> None:
    async with fleet(tmp_path, SHARDS, SHARDS) as made:
        await made.pass_seconds(16, 0, 1)
        assert all(not wrote for wrote in made.wrote.values())  # nobody is sure yet
        await made.pass_seconds(8, 0, 1)
        owners = [[n for n, one in enumerate(made.all) if one.may_write(key)] for key in KEYS]

        assert sorted(map(len, owners)) == [1] * len(KEYS)
        assert {n for (n,) in owners} == {0, 1}
        assert made.newest(2) == [set(owner) for owner in owners]
        assert len(made.all[0].control.outcomes) + len(made.all[1].control.outcomes) == len(KEYS)
        assert all(one.is_leader for one in made.all)


async def test_when_one_is_killed_the_other_takes_its_part_over(tmp_path: Path) -> None:
    async with fleet(tmp_path, SHARDS, SHARDS) as made:
        await made.pass_seconds(24, 0, 1)
        await made.pass_seconds(24, 0)

        assert made.newest(2) == [{0}] * len(NAMES)
        assert not made.all[1].is_leader


async def test_a_second_one_that_comes_computes_its_part_before_it_writes_it(
    tmp_path: Path,
) -> None:
    async with fleet(tmp_path, SHARDS, SHARDS) as made:
        await made.pass_seconds(20, 0)
        await made.pass_seconds(8, 0, 1)
        computes = len(made.all[1].control.outcomes)
        assert all(wrote[-1:] == [0] for wrote in made.wrote.values())
        await made.pass_seconds(16, 0, 1)

        assert 0 < computes < len(NAMES)
        assert set().union(*made.newest(1)) == {0, 1}


async def test_one_with_shards_and_one_without_keep_each_other_from_writing(
    tmp_path: Path,
) -> None:
    for settings in ((SHARDS, SINGLE), (SINGLE, SHARDS)):
        async with fleet(tmp_path, *settings) as made:
            await made.pass_seconds(24, 0, 1)
            assert made.newest(2) == [{0}] * len(NAMES)
            await made.pass_seconds(36, 1)

            assert made.newest(2) == [{1}] * len(NAMES)
