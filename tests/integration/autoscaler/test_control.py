"""Rounds against an API server that fails, and people who change things meanwhile.

Each round of the rig is held against the law: never in on what is not known, never beyond bounds.
"""

import asyncio
import random
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest
import yaml
from starlette.types import Scope

from fakes.autoscalers import FakeDemand
from fakes.plane_server import Fault
from fakes.reconciled import DEFINITION, Cluster, reconciled
from gputide.autoscaler.demand.model import Answer, Source
from gputide.autoscaler.model import DemandState, Key
from gputide.kube.errors import InvalidError
from gputide.kube.model import (
    AUTOSCALERS,
    CUSTOM_RESOURCE_DEFINITIONS,
    DEPLOYMENTS,
    HORIZONTAL_POD_AUTOSCALERS,
    STATEFUL_SETS,
)
from gputide.kubeapi import cel
from gputide.scaling import Strategy

CALM, MANY = 0.8, 1.89
WINDOW_ROUNDS = 22
"""Rounds until the stabilization window of 300 s has passed."""


def scale_writes(code: int, *, is_done: bool = False, times: int = 1_000) -> object:
    """Return a fault of the next writes of a scale."""
    left = [times]

    def fault(scope: Scope) -> Fault | None:
        if scope["method"] != "PUT" or not scope["path"].endswith("/scale") or not left[0]:
            return None
        left[0] -= 1
        return Fault(code=code, is_done=is_done)

    return fault


async def busy(cluster: Cluster, *, total: float = CALM, **spec: object) -> None:
    """Have a workload of four pods with an autoscaler."""
    await cluster.deploy("web", replicas=4)
    cluster.use("web", total)
    await cluster.settle("web")
    await cluster.autoscale("web", **spec)


async def test_demand_is_followed_out_and_after_the_window_in(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        await cluster.round()
        assert await cluster.replicas("web") == 8  # twice as many in 15 s are the most
        await cluster.settle("web")
        await cluster.round()
        assert await cluster.replicas("web") == 10
        cluster.use("web", CALM)
        for _ in range(WINDOW_ROUNDS):
            await cluster.settle("web")
            await cluster.round()
        assert await cluster.replicas("web") == 4
        status = await cluster.status("web")
        assert (status["current"], status["desiredReplicas"]) == ("80", 4)
        texts = [one["message"] for one in await cluster.events("web")]
        chain = "Demand 10 (demand 1.89 / target 0.2) -> NoForecast ? (there is none)"
        assert f"scaled 8 -> 10: {chain}" in texts


async def test_what_is_not_known_scales_nothing_in(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster)
        await cluster.round()
        for state in DemandState:
            if state is not DemandState.FRESH:
                cluster.demand.state = state
                for _ in range(3):
                    await cluster.round(seconds=110)  # a window of 300 s
        assert await cluster.replicas("web") == 4
        assert (await cluster.condition("web", "DemandKnown"))[0] == "False"
        assert "current" not in await cluster.status("web")
        reasons = await cluster.reasons("web")
        assert reasons.count("DemandUnknown") == 1


@pytest.mark.parametrize("code", [403, 404, 409, 429, 500, 503])
async def test_a_scale_that_is_refused_is_taken_back_and_decided_anew(
    tmp_path: Path, code: int
) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        cluster.fault = scale_writes(code)  # type: ignore[assignment]  # a closure
        for _ in range(3):
            made = await cluster.round()
            assert (made.scaled, made.failed) == (0, 1)
            assert not cluster.one.engine.rows.memory.changes.total.any()
        assert await cluster.replicas("web") == 4
        cluster.fault = lambda _scope: None
        await cluster.round()
        assert await cluster.replicas("web") == 8  # and no rate was used up meanwhile


async def test_a_scale_whose_answer_is_lost_counts_as_scaled_by_others(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        cluster.fault = scale_writes(500, is_done=True, times=1)  # type: ignore[assignment]  # a closure
        await cluster.round()
        await cluster.settle("web")
        await cluster.round()
        assert await cluster.replicas("web") == 10


async def test_a_server_that_is_away_costs_rounds_and_no_replica(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        await cluster.catch_up()
        cluster.fault = lambda scope: None if scope["method"] == "GET" else Fault(code=503)
        await cluster.round()
        cluster.fault = lambda _scope: None
        cluster.silence.seconds += 600  # the watches heard nothing for long
        made = await cluster.one.control.once()
        assert made.scaled == 0
        outcome = cluster.one.control.outcomes[Key(namespace="default", name="web")][0]
        assert outcome.obstacle is not None
        assert "nothing heard for" in outcome.obstacle_text
        assert await cluster.replicas("web") == 4


async def test_someone_who_scales_is_noticed_and_the_real_count_is_the_start(
    tmp_path: Path,
) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        for _ in range(2):
            await cluster.round()
            await cluster.settle("web")
        assert await cluster.replicas("web") == 10
        await cluster.admin.patch(DEPLOYMENTS, "default", "web", {"spec": {"replicas": 3}})
        await cluster.settle("web")
        await cluster.round()
        assert await cluster.replicas("web") == 7  # four more than three, not the ten of before
        [event] = [one for one in await cluster.events("web") if one["reason"] == "ScaledByOthers"]
        assert event["message"] == "replicas are 3, not 10 as written here: somebody else scaled"


async def test_a_count_that_changed_since_it_was_read_is_not_overwritten(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)

        async def scale_meanwhile() -> None:
            await cluster.admin.patch(DEPLOYMENTS, "default", "web", {"spec": {"replicas": 30}})

        cluster.demand = _Meanwhile(cluster, scale_meanwhile)
        made = await cluster.round()
        assert (made.scaled, made.failed) == (0, 1)
        assert await cluster.replicas("web") == 30


class _Meanwhile(FakeDemand):
    """Demand during whose reading something happens, once."""

    def __init__(self, cluster: Cluster, act: object) -> None:
        super().__init__(pods=dict(cluster.demand.pods))
        self._acts = [act]
        cluster.one.engine.source = self

    async def read(
        self, sources: Sequence[Source], *, now_seconds: float
    ) -> Mapping[Source, Answer]:
        for act in self._acts:
            await act()  # type: ignore[operator]  # what the test gave
        self._acts = []
        return await super().read(sources, now_seconds=now_seconds)


async def test_one_that_is_switched_to_observer_within_a_round_scales_no_more(
    tmp_path: Path,
) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)

        async def switch() -> None:
            change = {"spec": {"scaleStrategy": Strategy.OBSERVER.value}}
            await cluster.admin.patch(AUTOSCALERS, "default", "web", change)
            await cluster.catch_up()

        cluster.demand = _Meanwhile(cluster, switch)
        assert (await cluster.round()).scaled == 0
        await cluster.round()
        assert await cluster.replicas("web") == 4
        assert (await cluster.condition("web", "ScalingActive"))[1] == "ObservedOnly"


async def test_one_that_is_deleted_within_a_round_scales_no_more(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)

        async def delete() -> None:
            await cluster.admin.delete(AUTOSCALERS, "default", "web")
            await cluster.catch_up()

        cluster.demand = _Meanwhile(cluster, delete)
        assert (await cluster.round()).scaled == 0
        assert await cluster.replicas("web") == 4


async def test_an_hpa_on_the_workload_is_refused_until_it_goes(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
        hpa = {"metadata": {"name": "h"}, "spec": {"scaleTargetRef": ref, "maxReplicas": 3}}
        await cluster.admin.create(HORIZONTAL_POD_AUTOSCALERS, "default", hpa)
        for _ in range(3):
            assert (await cluster.round()).scaled == 0
        state, reason, _ = await cluster.condition("web", "AbleToScale")
        assert (state, reason) == ("False", "HorizontalPodAutoscalerOnTarget")
        assert (await cluster.reasons("web")).count("CannotScale") == 1
        await cluster.admin.delete(HORIZONTAL_POD_AUTOSCALERS, "default", "h")
        await cluster.round()
        assert await cluster.replicas("web") == 8
        assert "CanScaleAgain" in await cluster.reasons("web")


async def test_a_workload_that_is_missing_is_named_and_taken_when_it_comes(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await cluster.autoscale("web", minReplicas=5)
        await cluster.round()
        assert (await cluster.condition("web", "AbleToScale"))[1] == "TargetNotFound"
        assert "desiredReplicas" not in await cluster.status("web")
        await cluster.deploy("web", replicas=4)
        await cluster.round()
        assert await cluster.replicas("web") == 5


async def test_a_kind_of_the_same_name_in_another_group_is_left_alone(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        template = {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": []}}
        spec = {"replicas": 4, "serviceName": "web", "template": template}
        spec["selector"] = {"matchLabels": {"app": "web"}}
        template["spec"] = {"containers": [{"name": "main", "image": "demo"}]}
        found = {"metadata": {"name": "web"}, "spec": spec}
        await cluster.admin.create(STATEFUL_SETS, "default", found)
        ref = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "StatefulSet", "name": "web"}
        await cluster.autoscale("web", scaleTargetRef=ref, minReplicas=6)
        assert (await cluster.round()).scaled == 0
        stays = await cluster.admin.get(STATEFUL_SETS, "default", "web")
        assert stays["spec"]["replicas"] == 4
        assert (await cluster.condition("web", "AbleToScale"))[1] == "TargetNotScalable"


@pytest.mark.skipif(cel.installed() is None, reason="the CEL package is not installed")
async def test_a_window_that_ends_before_it_starts_is_refused_by_the_server(tmp_path: Path) -> None:
    bound = {"cron": "* 0-8 ? * MON-FRI", "minReplicas": 1, "maxReplicas": 2}
    window = {"startTime": "2026-12-16 00:00:00", "bounds": [bound]}
    async with reconciled(tmp_path) as cluster:
        for end, is_right in (("2026-12-15 00:00:00", False), ("2026-12-17 00:00:00", True)):
            name = "right" if is_right else "wrong"
            with nullcontext() if is_right else pytest.raises(InvalidError, match="startTime must"):
                await cluster.autoscale(name, instanceBounds=[window | {"endTime": end}])


async def test_a_bad_resource_is_told_by_its_field_and_scales_nothing(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY, timeZone="Mars/Base")
        assert (await cluster.round()).scaled == 0
        state, reason, message = await cluster.condition("web", "SpecValid")
        assert (state, reason) == ("False", "SpecInvalid")
        assert message.startswith("spec.timeZone: ")
        assert await cluster.reasons("web") == ["SpecInvalid"]


async def test_a_status_is_written_only_where_it_changed(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster)
        for _ in range(10):
            await cluster.round()
        written = len(cluster.told)
        for _ in range(20):
            await cluster.round()
        assert written <= 3
        assert len(cluster.told) == written


async def test_one_made_anew_under_an_old_name_is_shown(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster)
        await cluster.round()
        await cluster.admin.delete(AUTOSCALERS, "default", "web")
        await cluster.autoscale("web")
        await cluster.round()
        assert (await cluster.status("web"))["current"] == "80"


async def test_a_status_that_somebody_else_wrote_is_put_right(tmp_path: Path) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster)
        await cluster.round()
        wrong = {"desiredReplicas": 77, "conditions": [{"type": "SpecValid", "status": "True"}]}
        change = {"status": wrong}
        await cluster.admin.patch(AUTOSCALERS, "default", "web", change, subresource="status")
        await cluster.round()
        assert (await cluster.status("web"))["desiredReplicas"] == 4
        assert (await cluster.condition("web", "DemandKnown"))[0] == "True"


async def test_without_the_definition_it_waits_for_it(tmp_path: Path) -> None:
    async with reconciled(tmp_path, has_definition=False) as cluster:
        caches = cluster.one.control.caches
        await asyncio.wait_for(caches.declared.wait_changed(), 20)
        assert not caches.is_synced
        assert "advancedhorizontalpodautoscalers" in caches.problem()
        definition = yaml.safe_load(DEFINITION.read_text())
        await cluster.admin.create(CUSTOM_RESOURCE_DEFINITIONS, "", definition)
        await asyncio.wait_for(caches.wait_synced(), 20)
        await busy(cluster, total=MANY)
        await cluster.round()
        assert await cluster.replicas("web") == 8


async def test_of_two_controllers_the_one_that_may_not_write_writes_nothing(
    tmp_path: Path,
) -> None:
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        first = cluster.one
        second = await cluster.start(cluster.stack)
        second.control.may_write = lambda _key: False
        made = await cluster.round(second)
        assert (made.scaled, made.failed, made.statuses) == (0, 0, 0)
        assert (await cluster.round(first)).scaled == 1
        first.control.may_write = lambda _key: False
        second.control.may_write = lambda _key: True
        await cluster.settle("web")
        await cluster.round(first)
        await cluster.round(second)
        assert await cluster.replicas("web") == 10


@pytest.mark.parametrize("seed", range(6))
async def test_one_that_is_killed_anywhere_in_a_round_leaves_nothing_wrong(
    tmp_path: Path, seed: int
) -> None:
    """The rig holds each write of whoever comes after against the law."""
    chance = random.Random(seed)
    async with reconciled(tmp_path) as cluster:
        await busy(cluster, total=MANY)
        for _ in range(6):
            await cluster.catch_up()
            left = [chance.randrange(1, 8)]
            killed = asyncio.Event()

            def fault(
                _scope: Scope, left: list[int] = left, killed: asyncio.Event = killed
            ) -> None:
                left[0] -= 1
                if not left[0]:
                    killed.set()

            cluster.fault = fault
            running = asyncio.create_task(cluster.one.control.once())
            dead = asyncio.create_task(killed.wait())
            await asyncio.wait([running, dead], return_when=asyncio.FIRST_COMPLETED)
            for task in (running, dead):
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task
            cluster.fault = lambda _scope: None
            await cluster.one.stop()
            replicas = await cluster.replicas("web")
            assert 4 <= replicas <= 10
            await cluster.start(cluster.stack)
            await cluster.one.control.caches.wait_synced()
            await cluster.settle("web")
            await cluster.round()
        cluster.use("web", MANY)
        for _ in range(3):
            await cluster.settle("web")
            await cluster.round()
        assert await cluster.replicas("web") == 10
