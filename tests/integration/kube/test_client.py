import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.api_servers import BOX, api_server, box
from fakes.clock import FakeClock
from fakes.http_server import HttpServer, Request, Responder, http_server, response
from gputide.kube.client import KubeClient
from gputide.kube.errors import (
    BusyError,
    ConflictError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnreachableError,
)
from gputide.kube.model import PODS, EventType, PatchType, ResourceType
from gputide.kube.settings import KubeSettings

Configure = Callable[[str], KubeSettings]
BOXES = ResourceType(group="x.io", version="v1", plural="boxes", kind="Box")
EMPTY = b'{"items": [], "metadata": {"resourceVersion": "1"}}'


def client_of(settings: KubeSettings, clock: FakeClock | None = None) -> KubeClient:
    return KubeClient(settings, clock=clock or FakeClock(), random=lambda: 0.0)


def in_turn(*answers: bytes | None) -> Responder:
    rest = list(answers)
    return lambda _request: rest.pop(0) if len(rest) > 1 else rest[0]


def refusal(code: int, **headers: str) -> bytes:
    body = json.dumps({"kind": "Status", "code": code, "message": "said by the server"}).encode()
    return response(body, f"{code} X", headers={k.replace("_", "-"): v for k, v in headers.items()})


async def test_an_object_is_made_read_changed_and_deleted(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        made = await client.create(BOXES, "default", box("a"))
        found = await client.get(BOXES, "default", "a")
        found["spec"]["size"] = 2
        changed = await client.replace(BOXES, "default", "a", found)
        patched = await client.patch(BOXES, "default", "a", {"spec": {"replicas": 3}})
        await client.delete(BOXES, "default", "a")

        with pytest.raises(NotFoundError):
            await client.get(BOXES, "default", "a")
    assert made["metadata"]["uid"] == patched["metadata"]["uid"]
    assert (changed["spec"]["size"], patched["spec"]) == (2, changed["spec"] | {"replicas": 3})


async def test_a_write_based_on_an_old_version_is_a_conflict(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        old = await client.create(BOXES, "default", box("a"))
        await client.patch(BOXES, "default", "a", {"spec": {"size": 2}})

        with pytest.raises(ConflictError):
            await client.replace(BOXES, "default", "a", old)
        with pytest.raises(ConflictError):
            await client.create(BOXES, "default", box("a"))


async def test_a_wrong_object_is_told_by_its_field(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        with pytest.raises(InvalidError, match=r"spec\.size"):
            await client.create(BOXES, "default", box("a", size=0))


async def test_applying_takes_a_field_manager_and_a_dry_run_leaves_nothing(
    configured: Configure,
) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        for is_dry_run in (True, False):
            if not is_dry_run:
                with pytest.raises(NotFoundError):
                    await client.get(BOXES, "default", "a")
            applied = await client.patch(
                BOXES, "default", "a", box("a"), patch_type=PatchType.APPLY, is_dry_run=is_dry_run
            )

    assert applied["metadata"]["managedFields"][0]["manager"] == "gputide"


async def test_the_scale_of_an_object_is_a_subresource(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        await client.create(BOXES, "default", box("a", replicas=2))
        scale = await client.get(BOXES, "default", "a", subresource="scale")
        scale["spec"]["replicas"] = 5
        await client.replace(BOXES, "default", "a", scale, subresource="scale")

        assert (await client.get(BOXES, "default", "a"))["spec"]["replicas"] == 5


async def test_a_list_is_read_in_pages_and_decoded_on_the_way(
    configured: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gputide.kube.client.PAGE_OBJECTS", 2)
    async with api_server() as api, client_of(configured(api.url)) as client:
        for name in "abcde":
            await client.create(BOXES, "default", box(name))

        listed = await client.list(BOXES, decode=lambda obj: str(obj["metadata"]["name"]))

    assert "".join(listed.items) == "abcde"
    assert int(listed.resource_version) > 0


async def test_a_server_that_sends_one_page_for_ever_is_left(configured: Configure) -> None:
    page = response(b'{"items": [{}], "metadata": {"continue": "again"}}')
    async with (
        http_server(lambda _request: page) as server,
        client_of(configured(server.url)) as client,
    ):
        with pytest.raises(KubeError, match="same page again"):
            await client.list(PODS)

    assert len(server.requests) == 2


async def test_a_watch_tells_what_happens_after_a_version(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        await client.create(BOXES, "default", box("a"))
        version = (await client.list(BOXES)).resource_version
        await client.create(BOXES, "default", box("b"))
        await client.delete(BOXES, "default", "a")
        found = []
        async for event in client.watch(BOXES, resource_version=version):
            if event.object is not None:
                found.append((event.type, event.object["metadata"]["name"]))
            if len(found) == 2:
                break

    assert found == [(EventType.ADDED, "b"), (EventType.DELETED, "a")]


async def test_a_forgotten_version_ends_a_watch_as_gone(configured: Configure) -> None:
    gone = b'{"type": "ERROR", "object": {"code": 410, "message": "too old"}}\n'
    for answer in (response(gone), refusal(410)):
        async with (
            http_server(in_turn(answer)) as server,
            client_of(configured(server.url)) as client,
        ):
            with pytest.raises(GoneError):
                [event async for event in client.watch(PODS, resource_version="1")]


async def test_a_watch_that_is_cut_off_is_unreachable_and_keeps_what_came(
    configured: Configure,
) -> None:
    event = b'{"type": "ADDED", "object": {"metadata": {"name": "a"}}}\n'
    found = []
    async with (
        http_server(in_turn(response(event, length=9999))) as server,
        client_of(configured(server.url)) as client,
    ):

        async def follow() -> None:
            async for one in client.watch(PODS, resource_version="1"):
                found.append(one)  # noqa: PERF401  the error must not lose it

        with pytest.raises(UnreachableError):
            await follow()

    assert len(found) == 1


async def test_a_busy_server_is_asked_again_when_it_wants(configured: Configure) -> None:
    clock = FakeClock()
    async with (
        http_server(
            in_turn(refusal(429, Retry_After="3"), refusal(503), response(EMPTY))
        ) as server,
        client_of(configured(server.url), clock) as client,
    ):
        await client.list(PODS)

    assert len(server.requests) == 3
    assert clock.slept == [3.0, 0.0]


async def test_a_server_that_is_busy_for_long_is_told_as_busy(configured: Configure) -> None:
    async with (
        http_server(in_turn(refusal(429, Retry_After="600"))) as server,
        client_of(configured(server.url)) as client,
    ):
        with pytest.raises(BusyError) as caught:
            await client.list(PODS)

    assert caught.value.retry_after_seconds == 600
    assert len(server.requests) == 1


async def test_a_dropped_connection_is_tried_again_for_reads_alone(configured: Configure) -> None:
    cut = response(EMPTY, length=9999)
    async with (
        http_server(in_turn(cut, response(EMPTY))) as server,
        client_of(configured(server.url)) as client,
    ):
        await client.list(PODS)
        assert len(server.requests) == 2
    async with (
        http_server(in_turn(cut)) as server,
        client_of(configured(server.url)) as client,
    ):
        with pytest.raises(UnreachableError):
            await client.create(PODS, "default", {"metadata": {"name": "a"}})
        assert len(server.requests) == 1


async def test_a_server_that_is_not_there_is_named(configured: Configure) -> None:
    async with http_server(in_turn(None)) as server:
        url = server.url
    async with client_of(configured(url)) as client:
        with pytest.raises(UnreachableError, match="cannot be reached") as caught:
            await client.list(PODS)

    assert url in str(caught.value)


async def test_a_silent_server_is_left_at_the_deadline(configured: Configure) -> None:
    async with http_server(in_turn(None)) as server:
        settings = replace(configured(server.url), timeout_seconds=0.2)
        async with KubeClient(settings, random=lambda: 1.0) as client:
            with pytest.raises(UnreachableError, match="does not answer in time"):
                await client.list(PODS)


@pytest.mark.parametrize("body", [b"", b"<html>sign in</html>", b"[]", b"\xff", b"[" * 100_000])
async def test_garbage_is_an_error_of_ours(configured: Configure, body: bytes) -> None:
    async with (
        http_server(in_turn(response(body))) as server,
        client_of(configured(server.url)) as client,
    ):
        for ask in (client.list(PODS), client.get(PODS, "default", "a")):
            with pytest.raises(KubeError, match="answers with no"):
                await ask


async def test_an_answer_longer_than_any_of_kubernetes_is_not_kept(
    configured: Configure, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("gputide.kube.asking.MAX_BODY_BYTES", 1000)
    async with (
        http_server(in_turn(response(b" " * 1001))) as server,
        client_of(configured(server.url)) as client,
    ):
        with pytest.raises(KubeError, match="more than 1000 bytes"):
            await client.list(PODS)


async def test_deleting_without_a_name_does_not_delete_the_collection(
    configured: Configure,
) -> None:
    async with (
        http_server(in_turn(response(b"{}"))) as server,
        client_of(configured(server.url)) as client,
    ):
        for name in ("", ".."):
            with pytest.raises(InvalidError):
                await client.delete(PODS, "default", name)

    assert server.requests == []


async def test_a_kind_is_found_by_discovery_once(configured: Configure) -> None:
    async with api_server() as api, client_of(configured(api.url)) as client:
        found = await client.resource_for("x.io/v1", "Box")

        assert found == BOXES
        assert await client.resource_for("x.io/v1", "Box") is found
        assert not (await client.resource_for("x.io/v1", "Zone")).is_namespaced
        for version, kind in (("x.io/v1", "Nothing"), ("y.io/v1", "Box"), ("v9", "Box")):
            with pytest.raises(NotFoundError):
                await client.resource_for(version, kind)
        for version in ("../x", "", "x.io/"):
            with pytest.raises(InvalidError):
                await client.resource_for(version, "Box")


@pytest.mark.parametrize("found", [{}, {"resources": [1]}, {"resources": 1}])
async def test_odd_discovery_is_an_error_of_ours(configured: Configure, found: Any) -> None:  # noqa: ANN401 any JSON
    async with (
        http_server(in_turn(response(json.dumps(found).encode()))) as server,
        client_of(configured(server.url)) as client,
    ):
        with pytest.raises(KubeError):
            await client.resource_for("v1", "Pod")


async def test_the_token_goes_to_the_server_and_into_no_error(configured: Configure) -> None:
    def show(request: Request) -> bytes:
        assert request.headers["authorization"] == "Bearer token-of-the-test"
        return refusal(401)

    async with http_server(show) as server, client_of(configured(server.url)) as client:
        with pytest.raises(KubeError) as caught:
            await client.list(PODS)

    assert "token-of-the-test" not in repr(caught.value)


def test_the_kind_of_the_server_is_the_one_meant() -> None:
    assert (BOX.group, BOX.plural) == (BOXES.group, BOXES.plural)
    assert HttpServer(url="").requests == []


async def test_asking_again_does_not_begin_the_deadline_anew(configured: Configure) -> None:
    clock = FakeClock()
    seconds_left: list[float] = []

    def slow(_request: Request) -> bytes | None:
        seconds_left.append(10 - (clock.seconds - started))
        clock.seconds += 9.9
        return refusal(503) if len(seconds_left) == 1 else None

    started = clock.seconds
    async with (
        http_server(slow) as server,
        client_of(configured(server.url), clock) as client,
    ):
        async with asyncio.timeout(5):  # the second attempt has 0.1 s, and not 10
            with pytest.raises(UnreachableError, match="does not answer in time"):
                await client.list(PODS)

    assert len(seconds_left) == 2


async def test_a_context_without_a_user_asks_as_nobody(
    configured: Configure, tmp_path: Path
) -> None:
    def show(request: Request) -> bytes:
        assert "authorization" not in request.headers
        return response(EMPTY)

    async with http_server(show) as server:
        settings = configured(server.url)
        path = tmp_path / "kubeconfig"
        content = json.loads(path.read_text()) | {
            "contexts": [{"name": "test", "context": {"cluster": "test"}}]
        }
        path.write_text(json.dumps(content))
        async with client_of(settings) as client:
            await client.list(PODS)


async def test_a_token_that_was_rotated_is_read_anew(configured: Configure, tmp_path: Path) -> None:
    valid, token = "first", tmp_path / "token"
    token.write_text(valid)

    def check(request: Request) -> bytes:
        is_valid = request.headers["authorization"] == f"Bearer {valid}"
        return response(EMPTY) if is_valid else refusal(401)

    async with http_server(check) as server:
        settings = configured(server.url)
        path = tmp_path / "kubeconfig"
        content = json.loads(path.read_text()) | {
            "users": [{"name": "test", "user": {"tokenFile": str(token)}}]
        }
        path.write_text(json.dumps(content))
        async with client_of(settings) as client:
            await client.list(PODS)
            valid = "second"
            token.write_text(valid)
            await client.list(PODS)

    assert len(server.requests) == 3
