"""All sources together, each for real: a kubelet's socket, the Kubernetes API, a tree of /proc."""

import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.gpu_nodes import IDLE, device_status
from fakes.gpu_nodes import node as node_of
from fakes.kube_api import KubeApi, kube_api
from fakes.kube_api import pod as api_pod
from fakes.kubelet_server import KubeletServer, kubelet_server, refused
from fakes.kubelet_server import pod as held_pod
from fakes.owner_nodes import gpu
from gputide.exporter.model import AllocateMode, Ownership
from gputide.exporter.owners.settings import OwnerSettings
from gputide.exporter.owners.source import NodeOwners, node_owners
from gputide.exporter.render import render

UID = "0a1b2c3d-1111-2222-3333-444455556666"
CONTAINER_ID = "ab" * 32
INTERVAL_SECONDS = 5
PATIENCE_SECONDS = 10


@dataclass
class Node:
    """A node with two GPUs and everything that tells who holds them."""

    kubelet: KubeletServer
    api: KubeApi
    clock: FakeClock
    owners: NodeOwners

    async def look(self) -> Ownership:
        """Look as the collection does, an interval later."""
        self.clock.seconds += INTERVAL_SECONDS
        return await self.owners.ownership([gpu(0), gpu(1)], [4242])

    async def look_until(self, is_so: Callable[[Ownership], bool]) -> Ownership:
        """Look until an event has come through its socket."""
        async with asyncio.timeout(PATIENCE_SECONDS):
            while not is_so(found := await self.look()):  # noqa: ASYNC110 no event of ours tells
                await asyncio.sleep(0.001)  # noqa: TID251 real sockets take their time
        return found


@pytest.fixture
async def node(tmp_path: Path) -> AsyncIterator[Node]:
    process = tmp_path / "proc" / "4242"
    process.mkdir(parents=True)
    (process / "cgroup").write_text(f"0::/kubepods/burstable/pod{UID}/{CONTAINER_ID}\n")
    clock = FakeClock()
    async with kubelet_server(tmp_path / "kubelet.sock") as kubelet, kube_api(tmp_path) as api:
        settings = OwnerSettings(
            node_name="gpu-1",
            kubelet_socket=str(kubelet.path),
            kubeconfig=str(api.kubeconfig),
            has_pod_labels=True,
            proc_root=str(tmp_path / "proc"),
        )
        async with node_owners(settings, clock) as owners:
            yield Node(kubelet, api, clock, owners)


def start(node: Node) -> None:
    node.kubelet.pods = (held_pod("chat", {"main": {"nvidia.com/gpu": ["GPU-0"]}}),)
    node.api.put(
        api_pod(
            "chat",
            uid=UID,
            labels={"app": "chat"},
            container_ids={"main": f"containerd://{CONTAINER_ID}"},
        )
    )


async def test_a_pod_is_told_with_labels_and_its_process(node: Node) -> None:
    start(node)

    found = await node.look()

    (allocation,) = found.allocations
    assert (allocation.owner.pod, allocation.owner.pod_labels) == ("chat", {"app": "chat"})
    assert (allocation.owner.pod_uid, allocation.device_uuid) == (UID, "GPU-0")
    process = found.process_owners[4242]
    assert (process.pod, process.container) == ("chat", "main")
    assert (found.problems, found.detail_problems) == ((), ())
    assert found.mode is AllocateMode.EXCLUSIVE


async def test_a_pod_that_is_gone_is_gone_at_the_next_look(node: Node) -> None:
    start(node)
    assert (await node.look()).allocations

    node.kubelet.pods = ()

    assert (await node.look()).allocations == ()


async def test_the_page_has_the_pod_while_it_runs_and_not_an_interval_later(node: Node) -> None:
    start(node)
    cards = node_of(device_status(gpu(0), IDLE), device_status(gpu(1), IDLE))

    async def page() -> str:
        return render(replace(cards, ownership=await node.look())).body().decode()

    assert 'DCGM_FI_DEV_GPU_TEMP{gpu="0"' in (before := await page())
    assert 'container="main",namespace="demo",pod="chat"' in before
    assert "DCGM_CUSTOM_ALLOCATE_MODE" in before

    node.kubelet.pods = ()
    node.api.remove("chat")
    assert 'pod="chat"' not in await page()


async def test_a_pod_with_a_share_goes_with_the_event_of_its_end(node: Node) -> None:
    share = {"scheduler.framework.gpushare.allocation": '{"0":{"1":4}}'}
    node.api.put(api_pod("shared", annotations=share))
    found = await node.look()
    assert [(each.owner.pod, each.device_uuid) for each in found.allocations] == [
        ("shared", "GPU-1")
    ]

    node.api.put(api_pod("shared", annotations=share, is_deleting=True))
    await node.look_until(lambda found: not found.allocations)

    node.api.put(api_pod("shared", annotations=share, phase="Failed"))
    node.api.put(api_pod("next", annotations=share))
    found = await node.look_until(lambda found: bool(found.allocations))
    assert [each.owner.pod for each in found.allocations] == ["next"]


async def test_a_share_on_a_gpu_that_is_not_there_harms_no_other_pod(node: Node) -> None:
    start(node)
    node.api.put(
        api_pod("odd", annotations={"scheduler.framework.gpushare.allocation": '{"0":{"9":4}}'})
    )

    found = await node.look()

    assert [each.owner.pod for each in found.allocations] == ["chat"]
    (problem,) = found.problems
    assert problem.startswith("pod demo/odd: annotation scheduler.framework.gpushare.allocation:")
    assert problem.endswith("names GPU 9, which this node has not")


async def test_every_source_failing_is_told_and_nothing_raised(node: Node) -> None:
    node.kubelet.behave = refused(14, "restarting")
    node.api.refuse = 403

    found = await node.look()

    assert (found.allocations, found.mode) == ((), AllocateMode.NONE)
    assert found.problems[0].endswith("UNAVAILABLE: restarting")
    assert found.problems[1].startswith("Kubernetes API: may not read pods (403)")
