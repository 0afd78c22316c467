import asyncio
import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress

import pytest

from fakes.api_servers import api_server, box
from fakes.clock import FakeClock
from fakes.http_server import Request, http_server, response
from fakes.kube_api import kube_api, pod
from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.mirror import FIRST_PAUSE_SECONDS, MAX_PAUSE_SECONDS, Mirror, MirrorState
from gputide.kube.model import PODS, JsonObject, ResourceType
from gputide.kube.settings import KubeSettings

Configure = Callable[[str], KubeSettings]
BOXES = ResourceType(group="x.io", version="v1", plural="boxes", kind="Box")
DEADLINE_SECONDS = 10
MISSING = json.dumps({"kind": "Status", "code": 404, "message": "not served"}).encode()


class StepClock(FakeClock):
    """Sleeps last until the test lets them pass; what was slept is kept."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = asyncio.Semaphore(0)
        self.asleep = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.asleep.set()
        await self.gate.acquire()
        self.seconds += seconds

    async def until_asleep(self) -> None:
        async with asyncio.timeout(DEADLINE_SECONDS):
            await self.asleep.wait()
        self.asleep.clear()


def size_of(obj: JsonObject) -> int | None:
    return obj["spec"].get("size")


def any_object(_obj: JsonObject) -> int:
    return 1


@asynccontextmanager
async def running(mirror: Mirror[int]) -> AsyncIterator[None]:
    task = asyncio.create_task(mirror.run())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def until(mirror: Mirror[int], is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(DEADLINE_SECONDS):
        while not is_so():
            await mirror.wait_changed()


def mirror_of(
    client: KubeClient, kind: ResourceType, clock: Clock, decode: Callable[[JsonObject], int | None]
) -> Mirror[int]:
    return Mirror(client, kind, decode, clock, random=lambda: 0.5)


async def test_objects_come_change_and_go(configured: Configure) -> None:
    told = []
    async with api_server() as api, KubeClient(configured(api.url), clock=api.clock) as client:
        await client.create(BOXES, "default", box("a"))
        mirror = mirror_of(client, BOXES, StepClock(), size_of)
        mirror.on_change(told.append)
        async with running(mirror):
            await mirror.wait_synced()
            assert mirror.objects == {("default", "a"): 1}
            await client.create(BOXES, "default", box("b", size=2))
            await client.patch(BOXES, "default", "a", {"spec": {"size": 7}})
            await until(mirror, lambda: mirror.objects.get(("default", "a")) == 7)
            await client.delete(BOXES, "default", "b")
            await until(mirror, lambda: len(mirror.objects) == 1)

    assert told == [("default", name) for name in "abab"]
    assert mirror.lists_total == 1
    assert mirror.state is MirrorState.CURRENT


async def test_what_decode_leaves_out_is_not_kept(configured: Configure) -> None:
    async with api_server() as api, KubeClient(configured(api.url), clock=api.clock) as client:
        await client.create(BOXES, "default", box("a"))
        await client.create(BOXES, "default", box("b", size=2))
        wanted = mirror_of(
            client, BOXES, StepClock(), lambda obj: None if size_of(obj) == 2 else size_of(obj)
        )
        async with running(wanted):
            await wanted.wait_synced()
            await client.patch(BOXES, "default", "a", {"spec": {"size": 2}})
            await until(wanted, lambda: not wanted.objects)


async def test_a_watch_that_ends_goes_on_from_where_it_was(
    configured: Configure, tmp_path: object
) -> None:
    del configured
    async with kube_api(tmp_path) as api:  # type: ignore[arg-type]  # pytest's own Path
        api.put(pod("a"))
        clock = StepClock()
        settings = KubeSettings(kubeconfig=str(api.kubeconfig))
        async with KubeClient(settings) as client:
            mirror = Mirror(
                client,
                PODS,
                any_object,
                clock,
                field_selector="spec.nodeName=gpu-1",
                random=lambda: 0.5,
            )
            async with running(mirror):
                await mirror.wait_synced()
                while not api.watches:
                    await api.changed.wait()
                api.end_watches()
                api.put(pod("b"))
                await clock.until_asleep()
                clock.gate.release()
                await until(mirror, lambda: len(mirror.objects) == 2)

    assert mirror.lists_total == 1
    assert clock.slept == [FIRST_PAUSE_SECONDS]


async def test_forgotten_versions_are_listed_anew_and_nothing_is_lost(tmp_path: object) -> None:
    async with kube_api(tmp_path) as api:  # type: ignore[arg-type]  # pytest's own Path
        api.put(pod("a"))
        api.put(pod("b"))
        clock = StepClock()
        told: list[tuple[str, str]] = []
        async with KubeClient(KubeSettings(kubeconfig=str(api.kubeconfig))) as client:
            selector = "spec.nodeName=gpu-1"
            mirror = Mirror(client, PODS, any_object, clock, field_selector=selector)
            mirror.on_change(told.append)
            async with running(mirror):
                await mirror.wait_synced()
                while not api.watches:
                    await api.changed.wait()
                api.end_watches()
                api.remove("a")
                api.put(pod("c"))
                api.forget()
                clock.gate.release()
                clock.gate.release()
                await until(mirror, lambda: ("demo", "c") in mirror.objects)

    assert set(mirror.objects) == {("demo", "b"), ("demo", "c")}
    assert ("demo", "a") in told[2:]
    assert mirror.lists_total == 2


async def test_a_server_that_forgets_everything_at_once_is_not_asked_in_a_spin(
    configured: Configure,
) -> None:
    gone = b'{"type": "ERROR", "object": {"code": 410, "message": "too old"}}\n'
    listed = b'{"items": [], "metadata": {"resourceVersion": "1"}}'

    def answer(request: Request) -> bytes:
        return response(gone if "watch=true" in request.target else listed)

    clock = StepClock()
    async with (
        http_server(answer) as server,
        KubeClient(configured(server.url), clock=FakeClock()) as client,
    ):
        mirror = mirror_of(client, PODS, clock, any_object)
        async with running(mirror):
            for _ in range(4):
                await clock.until_asleep()
                clock.gate.release()

    assert clock.slept[:4] == [0.5, 1, 2, 4]
    assert mirror.state is MirrorState.BEHIND


@pytest.mark.parametrize(
    ("status", "body", "state"),
    [
        ("404 X", MISSING, MirrorState.MISSING),
        ("403 X", b"{}", MirrorState.FORBIDDEN),
        ("401 X", b"{}", MirrorState.FORBIDDEN),
        ("500 X", b"oops", MirrorState.BEHIND),
        ("200 OK", b"<html>", MirrorState.BEHIND),
    ],
)
async def test_a_refusal_is_a_state_in_words_and_tried_again_ever_slower(
    configured: Configure, status: str, body: bytes, state: MirrorState
) -> None:
    clock = StepClock()
    async with (
        http_server(lambda _request: response(body, status)) as server,
        KubeClient(configured(server.url), clock=FakeClock(), random=lambda: 0) as client,
    ):
        mirror = mirror_of(client, PODS, clock, any_object)
        async with running(mirror):
            for _ in range(9):
                await clock.until_asleep()
                clock.gate.release()

    assert clock.slept[:9] == [*(0.5 * 2**n for n in range(6)), *3 * [MAX_PAUSE_SECONDS]]
    assert mirror.state is state
    assert mirror.problem
    assert not mirror.is_synced
    assert mirror.age_seconds() is None


async def test_a_busy_servers_wish_is_waited_for(configured: Configure) -> None:
    clock = StepClock()
    busy = response(b"{}", "429 X", headers={"Retry-After": "20"})
    async with (
        http_server(lambda _request: busy) as server,
        KubeClient(configured(server.url), clock=FakeClock(), random=lambda: 0) as client,
        running(mirror_of(client, PODS, clock, any_object)),
    ):
        await clock.until_asleep()

    assert clock.slept == [20]


async def test_while_the_server_is_away_what_was_known_is_shown_with_its_age(
    configured: Configure,
) -> None:
    clock = StepClock()
    async with api_server() as api, KubeClient(configured(api.url), clock=FakeClock()) as client:
        await client.create(BOXES, "default", box("a"))
        mirror = mirror_of(client, BOXES, clock, size_of)
        task = asyncio.create_task(mirror.run())
        await mirror.wait_synced()
        api.stop.set()
        await clock.until_asleep()
        clock.gate.release()
        await clock.until_asleep()
        state, age = mirror.state, mirror.age_seconds()
        task.cancel()

    assert state is MirrorState.BEHIND
    assert age is not None
    assert age > 0
    assert mirror.objects == {("default", "a"): 1}


async def test_a_resource_that_is_removed_takes_its_objects_with_it(configured: Configure) -> None:
    told: list[tuple[str, str]] = []
    is_served = True
    listed = b'{"items": [{"metadata": {"name": "a"}}], "metadata": {"resourceVersion": "1"}}'

    def answer(request: Request) -> bytes:
        if not is_served:
            return response(MISSING, "404 X")
        return response(b"" if "watch=true" in request.target else listed)

    clock = StepClock()
    async with (
        http_server(answer) as server,
        KubeClient(configured(server.url), clock=FakeClock()) as client,
    ):
        mirror = mirror_of(client, PODS, clock, any_object)
        mirror.on_change(told.append)
        async with running(mirror):
            await clock.until_asleep()
            is_served = False
            clock.gate.release()
            await clock.until_asleep()

    assert mirror.state is MirrorState.MISSING
    assert not mirror.objects
    assert told == [("", "a"), ("", "a")]


@pytest.mark.parametrize(
    ("code", "words"),
    [(504, "Too large resource version: 90, current: 3"), (400, "Invalid resource version")],
)
async def test_a_server_whose_versions_went_back_is_listed_anew(
    configured: Configure, code: int, words: str
) -> None:
    refused = json.dumps({"kind": "Status", "code": code, "message": words}).encode()
    version, names = "90", ["ghost"]

    def answer(request: Request) -> bytes:
        if "watch=true" not in request.target:
            items = [{"metadata": {"name": name}} for name in names]
            listed = {"items": items, "metadata": {"resourceVersion": version}}
            return response(json.dumps(listed).encode())
        is_known = f"resourceVersion={version}&" in f"{request.target}&"
        return response(b"") if is_known else response(refused, f"{code} X")

    clock = StepClock()
    async with (
        http_server(answer) as server,
        KubeClient(configured(server.url), clock=FakeClock()) as client,
    ):
        mirror = mirror_of(client, PODS, clock, any_object)
        async with running(mirror):
            await clock.until_asleep()
            assert set(mirror.objects) == {("", "ghost")}
            version, names = "3", ["a"]
            for _ in range(2):
                clock.gate.release()
                await clock.until_asleep()

    assert set(mirror.objects) == {("", "a")}
    assert mirror.lists_total == 2


async def test_a_server_that_is_busy_is_not_listed_anew(configured: Configure) -> None:
    def answer(request: Request) -> bytes:
        is_list = "watch=true" not in request.target
        return response(b'{"items": [], "metadata": {"resourceVersion": "1"}}') if is_list else busy

    busy = response(b'{"kind": "Status", "code": 504, "message": "Timeout"}', "504 X")
    clock = StepClock()
    async with (
        http_server(answer) as server,
        KubeClient(configured(server.url), clock=FakeClock()) as client,
    ):
        mirror = mirror_of(client, PODS, clock, any_object)
        async with running(mirror):
            for _ in range(3):
                await clock.until_asleep()
                clock.gate.release()

    assert mirror.lists_total == 1
