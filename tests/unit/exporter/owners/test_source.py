import asyncio
from collections.abc import Iterable, Mapping

import pytest

from fakes.clock import FakeClock
from fakes.owner_nodes import gpu, held, pod_record
from gputide.exporter.model import AllocateMode, Ownership
from gputide.exporter.owners.model import Cgroup, HeldDevices, Pod, SeenProcesses
from gputide.exporter.owners.ports import OwnerSourceError
from gputide.exporter.owners.settings import OwnerSettings
from gputide.exporter.owners.source import NodeOwners, node_owners


class FakeKubelet:
    def __init__(self) -> None:
        self.held = (held("chat", "nvidia.com/gpu", "GPU-0"),)
        self.problem = ""
        self.asked = 0
        self.is_closed = False
        self.is_silent = False

    async def held_devices(self) -> tuple[HeldDevices, ...]:
        self.asked += 1
        if self.is_silent:
            await asyncio.Event().wait()
        if self.problem:
            raise OwnerSourceError("kubelet", self.problem)
        return self.held

    async def close(self) -> None:
        self.is_closed = True


class FakePods:
    def __init__(self, *pods: Pod) -> None:
        self.records = {(pod.owner.namespace, pod.owner.pod): pod for pod in pods}
        self.problem = ""
        self.is_closed = False

    async def pods(self) -> Mapping[tuple[str, str], Pod]:
        if self.problem:
            raise OwnerSourceError("Kubernetes API", self.problem)
        return self.records

    async def close(self) -> None:
        self.is_closed = True


class FakeProcesses:
    def __init__(self, cgroups: dict[int, Cgroup], problem: str = "") -> None:
        self.seen = SeenProcesses(cgroups=cgroups, problem=problem)

    def look(self, pids: Iterable[int]) -> SeenProcesses:  # noqa: ARG002 the port's parameter
        return self.seen


SETTINGS = OwnerSettings(node_name="gpu-1", ttl_seconds=5, max_age_seconds=60)


async def look(owners: NodeOwners, *pids: int) -> Ownership:
    return await owners.ownership([gpu(0)], pids)


def holders(ownership: Ownership) -> list[str]:
    return [each.owner.pod for each in ownership.allocations]


async def test_all_sources_together_tell_owners_and_processes() -> None:
    owners = NodeOwners(
        SETTINGS,
        FakeClock(100),
        kubelet=FakeKubelet(),
        pods=FakePods(pod_record("chat", container_ids={"c1": "main"})),
        processes=FakeProcesses({10: Cgroup("", "c1")}),
    )

    found = await look(owners, 10)

    assert holders(found) == ["chat"]
    assert found.process_owners[10].pod == "chat"
    assert (found.at_seconds, found.problems, found.mode) == (100, (), AllocateMode.EXCLUSIVE)


async def test_an_answer_is_used_until_it_is_old() -> None:
    clock, kubelet = FakeClock(100), FakeKubelet()
    owners = NodeOwners(SETTINGS, clock, kubelet=kubelet)

    await look(owners)
    clock.seconds = 104
    found = await look(owners)
    assert (kubelet.asked, found.at_seconds) == (1, 100)
    assert owners.ages_seconds() == {"kubelet": 4}

    clock.seconds = 105
    kubelet.held = ()
    found = await look(owners)
    assert (kubelet.asked, found.at_seconds, holders(found)) == (2, 105, [])
    assert owners.ages_seconds() == {"kubelet": 0}


async def test_a_failing_kubelet_leaves_the_last_answer_for_a_while_and_says_so() -> None:
    clock, kubelet = FakeClock(100), FakeKubelet()
    owners = NodeOwners(SETTINGS, clock, kubelet=kubelet)
    await look(owners)

    kubelet.problem = "is not there"
    clock.seconds = 150
    found = await look(owners)
    assert (holders(found), found.problems, found.at_seconds) == (
        ["chat"],
        ("kubelet: is not there",),
        100,
    )

    clock.seconds = 161
    found = await look(owners)
    assert (holders(found), found.problems) == ([], ("kubelet: is not there",))
    assert owners.ages_seconds() == {}

    kubelet.problem = ""
    clock.seconds = 170
    assert (await look(owners)).problems == ()


async def test_a_failure_is_not_asked_again_before_its_time() -> None:
    clock, kubelet = FakeClock(100), FakeKubelet()
    kubelet.problem = "refused"
    owners = NodeOwners(SETTINGS, clock, kubelet=kubelet)

    for _ in range(3):
        assert (await look(owners)).problems == ("kubelet: refused",)

    assert kubelet.asked == 1


async def test_a_source_that_is_silent_fails_by_its_deadline() -> None:
    kubelet = FakeKubelet()
    kubelet.is_silent = True
    settings = OwnerSettings(node_name="gpu-1", deadline_seconds=0.01)

    found = await look(NodeOwners(settings, FakeClock(), kubelet=kubelet))

    assert found.problems == ("kubelet: no answer within 0.01 s",)


async def test_a_failing_api_costs_labels_and_processes_but_no_gpu() -> None:
    pods = FakePods()
    pods.problem = "may not read pods"
    owners = NodeOwners(
        SETTINGS, FakeClock(), kubelet=FakeKubelet(), pods=pods, processes=FakeProcesses({})
    )

    found = await look(owners, 10)

    assert (holders(found), found.problems) == (["chat"], ())
    assert found.detail_problems == ("Kubernetes API: may not read pods",)


async def test_a_failing_api_is_a_problem_where_a_gpu_is_shared_by_annotation() -> None:
    kubelet, pods = FakeKubelet(), FakePods()
    kubelet.held = (
        held("whole", "nvidia.com/gpu", "GPU-0"),
        held("chat", "aliyun.com/gpu-mem", count=4),
    )
    pods.problem = "may not read pods"

    found = await look(NodeOwners(SETTINGS, FakeClock(), kubelet=kubelet, pods=pods))

    assert found.problems == ("Kubernetes API: may not read pods",)
    kubelet.problem = "refused"
    found = await look(NodeOwners(SETTINGS, FakeClock(), kubelet=kubelet, pods=pods))
    assert found.problems == ("kubelet: refused", "Kubernetes API: may not read pods")


async def test_what_cannot_be_seen_of_processes_is_a_problem() -> None:
    owners = NodeOwners(
        SETTINGS,
        FakeClock(),
        kubelet=FakeKubelet(),
        pods=FakePods(pod_record("chat")),
        processes=FakeProcesses({}, "set hostPID: true"),
    )

    found = await look(owners, 10)

    # Allocations are complete all the same.
    assert (found.problems, found.detail_problems) == ((), ("set hostPID: true",))


async def test_closing_closes_what_is_open() -> None:
    kubelet, pods = FakeKubelet(), FakePods()

    await NodeOwners(SETTINGS, FakeClock(), kubelet=kubelet, pods=pods).close()

    assert (kubelet.is_closed, pods.is_closed) == (True, True)


async def test_without_a_kubelet_whole_gpus_are_unknown_and_that_is_said() -> None:
    owners = NodeOwners(SETTINGS, FakeClock(), pods=FakePods(pod_record("chat")))

    assert (await look(owners)).problems == (
        "GPUs held whole are unknown: no kubelet socket is set",
    )


async def test_a_bug_in_a_source_is_not_hidden() -> None:
    class Broken(FakeKubelet):
        async def held_devices(self) -> tuple[HeldDevices, ...]:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        await look(NodeOwners(SETTINGS, FakeClock(), kubelet=Broken()))


async def test_a_node_without_kubernetes_has_no_owners_and_no_problem() -> None:
    settings = OwnerSettings(kubelet_socket="", has_kube_api=False)

    async with node_owners(settings, FakeClock(7)) as owners:
        found = await look(owners, 10)

    assert (found.mode, found.allocations, found.problems) == (AllocateMode.NONE, (), ())
    assert found.at_seconds == 7
