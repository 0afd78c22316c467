"""Pods over real HTTP, by lightkube, from a server that lists and watches as Kubernetes does."""

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from pathlib import Path

import pytest
import trustme

from fakes.kube_api import KubeApi, kube_api, pod
from gputide.exporter.owners import kube
from gputide.exporter.owners.kube import NodePods
from gputide.exporter.owners.ports import OwnerSourceError
from gputide.exporter.owners.settings import OwnerSettings

PATIENCE_SECONDS = 10


class GateClock:
    """A clock whose pauses last until the test opens the gate."""

    def __init__(self) -> None:
        self.slept: list[float] = []
        self._gates: asyncio.Queue[None] = asyncio.Queue()

    def now_seconds(self) -> float:
        return 0

    def monotonic_seconds(self) -> float:
        return 0

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        await self._gates.get()

    def open(self) -> None:
        self._gates.put_nowait(None)


@pytest.fixture
async def api(tmp_path: Path) -> AsyncIterator[KubeApi]:
    async with kube_api(tmp_path) as server:
        yield server


@pytest.fixture
def clock() -> GateClock:
    return GateClock()


def settings(api: KubeApi) -> OwnerSettings:
    return OwnerSettings(node_name="gpu-1", kubeconfig=str(api.kubeconfig), has_pod_labels=True)


@asynccontextmanager
async def node_pods(settings: OwnerSettings, clock: GateClock) -> AsyncIterator[NodePods]:
    pods = NodePods(settings, clock)
    with suppress(OwnerSourceError):
        await pods.pods()
    yield pods
    await pods.close()


async def until(is_so: Callable[[], bool]) -> None:
    """Let the others run until something is so."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not is_so():  # noqa: ASYNC110 there is no event for everything
            await asyncio.sleep(0.001)  # noqa: TID251 real sockets take their time


async def names(pods: NodePods) -> list[str]:
    return [name for _, name in await pods.pods()]


async def told(pods: NodePods) -> str:
    with pytest.raises(OwnerSourceError) as caught:
        await pods.pods()
    return caught.value.problem


async def see(pods: NodePods, *expected: str) -> None:
    """Wait until the directory has exactly these pods."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while await names(pods) != list(expected):  # noqa: ASYNC110 likewise
            await asyncio.sleep(0.001)  # noqa: TID251 likewise


async def test_the_nodes_pods_are_listed_with_labels_and_those_of_other_nodes_not(
    api: KubeApi, clock: GateClock
) -> None:
    api.put(pod("chat", labels={"app": "chat"}))
    api.put(pod("far", node="gpu-2"))

    async with node_pods(settings(api), clock) as pods:
        found = await pods.pods()

    assert list(found) == [("demo", "chat")]
    assert found["demo", "chat"].owner.pod_labels == {"app": "chat"}
    assert api.requests[0]["fieldSelector"] == "spec.nodeName=gpu-1"


async def test_a_list_of_many_pages_is_read_whole(api: KubeApi, clock: GateClock) -> None:
    api.page_size = 7
    for number in range(30):
        api.put(pod(f"pod-{number}"))

    async with node_pods(settings(api), clock) as pods:
        assert await names(pods) == [f"pod-{number}" for number in range(30)]


async def test_pods_that_come_change_and_go_are_seen_as_they_do(
    api: KubeApi, clock: GateClock
) -> None:
    async with node_pods(settings(api), clock) as pods:
        assert await names(pods) == []
        await until(lambda: bool(api.watches))

        api.put(pod("chat"))
        await see(pods, "chat")
        api.put(pod("chat", is_deleting=True))
        await until(lambda: pods._pods["demo", "chat"].is_deleting)
        api.remove("chat")
        await see(pods)

    assert pods.lists_total == 1


async def test_a_watch_that_ends_goes_on_from_the_last_bookmark(
    api: KubeApi, clock: GateClock
) -> None:
    async with node_pods(settings(api), clock) as pods:
        await pods.pods()
        await until(lambda: bool(api.watches))
        api.bookmark()
        await until(lambda: pods._version == str(api.version))
        api.end_watches()
        await until(lambda: bool(clock.slept))
        api.put(pod("meanwhile"))
        clock.open()
        await see(pods, "meanwhile")

    watches = [each for each in api.requests if each.get("watch")]
    assert watches[0]["allowWatchBookmarks"] == "true"
    assert watches[1]["resourceVersion"] == str(api.version - 1)
    assert pods.lists_total == 1


async def test_a_version_that_is_forgotten_leads_to_a_new_list(
    api: KubeApi, clock: GateClock
) -> None:
    api.put(pod("old"))
    async with node_pods(settings(api), clock) as pods:
        await pods.pods()
        await until(lambda: bool(api.watches))
        api.end_watches()
        await until(lambda: bool(clock.slept))
        api.pods.clear()  # a deletion that no watch will tell any more
        api.forget()
        clock.open()
        await see(pods)

    assert pods.lists_total == 2
    lists = [each for each in api.requests if not each.get("watch")]
    assert [each.get("resourceVersion") for each in lists] == ["0", None]


async def test_a_watch_that_fails_is_told_and_the_pods_listed_anew(
    api: KubeApi, clock: GateClock
) -> None:
    async with node_pods(settings(api), clock) as pods:
        await pods.pods()
        await until(lambda: bool(api.watches))
        api.fail_watches(500, "etcd is away")
        await until(lambda: bool(clock.slept))
        assert await told(pods) == "ended the watch: etcd is away"

        api.events.clear()
        clock.open()
        await until(lambda: pods.lists_total == 2)
        assert await names(pods) == []


@pytest.mark.parametrize(
    ("code", "problem"),
    [
        (403, "may not read pods (403); give its service account the verbs list and watch on pods"),
        (401, "does not know us (401); the token may have expired"),
        (503, "answered 503"),
    ],
)
async def test_a_refusal_says_what_would_mend_it_and_is_asked_again_ever_more_slowly(
    api: KubeApi, clock: GateClock, code: int, problem: str
) -> None:
    api.refuse = code
    api.put(pod("chat"))
    async with node_pods(settings(api), clock) as pods:
        assert await told(pods) == problem
        for _ in range(3):
            clock.open()
        await until(lambda: len(clock.slept) == 4)
        assert clock.slept == sorted(clock.slept)
        assert clock.slept[-1] == pytest.approx(10 * clock.slept[0])

        api.refuse = 0
        clock.open()
        await see_again(pods, "chat")


async def see_again(pods: NodePods, *expected: str) -> None:
    """Wait until the directory answers again."""
    await until(lambda: not pods._problem)
    assert await names(pods) == list(expected)


@pytest.mark.parametrize("body", [b"not JSON", b"[]", b'{"items": 5}', b"\xff\xfe", b""])
async def test_an_answer_that_is_no_list_is_told(
    api: KubeApi, clock: GateClock, body: bytes
) -> None:
    api.raw = body
    async with node_pods(settings(api), clock) as pods:
        assert (await told(pods)).startswith("answers with no list of pods")


async def test_events_that_are_none_are_told(api: KubeApi, clock: GateClock) -> None:
    async with node_pods(settings(api), clock) as pods:
        await pods.pods()
        await until(lambda: bool(api.watches))
        api.events.append((api.version, {"nonsense": True}))
        api._wake()
        await until(lambda: bool(pods._problem))
        assert (await told(pods)).startswith("sends no watch events")


async def test_more_pods_than_a_node_can_have_are_refused(
    api: KubeApi, clock: GateClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "MAX_PODS", 2)
    for number in range(3):
        api.put(pod(f"pod-{number}"))

    async with node_pods(settings(api), clock) as pods:
        assert await told(pods) == "shows more than 2 pods for one node"


async def test_an_event_without_end_is_refused(
    api: KubeApi, clock: GateClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kube, "MAX_LINE_BYTES", 1000)
    async with node_pods(settings(api), clock) as pods:
        await pods.pods()
        await until(lambda: bool(api.watches))
        (watch,) = api.watches
        watch.write(b"fa0\r\n" + b"x" * 4000 + b"\r\n")
        await until(lambda: bool(pods._problem))
        assert await told(pods) == "sends a watch event of more than 1000 bytes"


async def test_an_api_that_cannot_be_reached_is_told(api: KubeApi, clock: GateClock) -> None:
    text = api.kubeconfig.read_text()
    api.kubeconfig.write_text(text.replace(api.url, "http://127.0.0.1:1"))
    async with node_pods(settings(api), clock) as pods:
        assert (await told(pods)).startswith("cannot be reached: ")


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (None, "is not configured: no service account token is mounted, and"),
        ("{", "its configuration cannot be used"),
        ("clusters: 7", "its configuration cannot be used"),
        ("[]", "its configuration cannot be used"),
        ("{clusters: [], contexts: []}", "is not configured"),
    ],
)
async def test_a_configuration_that_cannot_be_used_is_told(
    api: KubeApi, clock: GateClock, content: str | None, problem: str
) -> None:
    if content is None:
        api.kubeconfig.unlink()
    else:
        api.kubeconfig.write_text(content)
    async with node_pods(settings(api), clock) as pods:
        assert (await told(pods)).startswith(problem)


async def test_a_node_without_a_name_is_told_what_to_set(api: KubeApi, clock: GateClock) -> None:
    async with node_pods(replace(settings(api), node_name=""), clock) as pods:
        assert await told(pods) == (
            "the node's name is not known; set NODE_NAME from spec.nodeName"
        )


async def test_an_api_over_tls_is_trusted_by_the_authority_of_its_configuration(
    tmp_path: Path, clock: GateClock
) -> None:
    authority = trustme.CA()
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    authority.issue_cert("127.0.0.1").configure_cert(context)
    async with kube_api(tmp_path, tls=context) as api:
        api.put(pod("chat"))
        async with node_pods(settings(api), clock) as pods:
            assert "certificate verify failed" in (await told(pods)).lower()

        pem = base64.b64encode(authority.cert_pem.bytes()).decode()
        trusting = f'server: "{api.url}", certificate-authority-data: {pem}'
        text = api.kubeconfig.read_text().replace(f'server: "{api.url}"', trusting)
        api.kubeconfig.write_text(text)
        async with node_pods(settings(api), clock) as pods:
            assert await names(pods) == ["chat"]


async def test_a_bug_in_the_watch_is_not_hidden(
    api: KubeApi, clock: GateClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(kube, "pod_from", broken)
    api.put(pod("chat"))
    pods = NodePods(settings(api), clock)

    with pytest.raises(ZeroDivisionError):
        await pods.pods()
    await pods.close()
