"""The kubelet's socket for real: HTTP/2 frames over a unix socket, well and badly behaved."""

import asyncio
from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from fakes.kubelet_server import (
    Behaviour,
    Call,
    KubeletServer,
    body_only,
    framed,
    half,
    kubelet_server,
    pod,
    raw,
    refused,
    silent,
)
from gputide.exporter.owners.podresources import PodResources
from gputide.exporter.owners.ports import OwnerSourceError
from gputide.exporter.owners.settings import OwnerSettings

# Which of them it is hangs on how far the sockets have come.
HANG_UPS = (
    "is no kubelet's: it hangs up before it answers",
    "is no kubelet's: it hangs up before it has answered",
    "the connection ended before the answer was whole",
)
CHAT = pod("chat-0", {"main": {"nvidia.com/gpu": ["GPU-1", "GPU-2"]}})


@pytest.fixture
async def kubelet(tmp_path: Path) -> AsyncIterator[KubeletServer]:
    async with kubelet_server(tmp_path / "kubelet.sock") as server:
        server.pods = (CHAT,)
        yield server


def settings(path: Path) -> OwnerSettings:
    return OwnerSettings(kubelet_socket=str(path))


@pytest.fixture
async def client(kubelet: KubeletServer) -> AsyncIterator[PodResources]:
    resources = PodResources(settings(kubelet.path))
    yield resources
    await resources.close()


async def refusal(client: PodResources) -> str:
    with pytest.raises(OwnerSourceError) as caught:
        await client.held_devices()
    return caught.value.problem


async def test_what_containers_hold_comes_over_the_socket(
    kubelet: KubeletServer, client: PodResources
) -> None:
    (held,) = await client.held_devices()

    assert (held.namespace, held.pod, held.container) == ("demo", "chat-0", "main")
    assert held.device_ids == ("GPU-1", "GPU-2")
    assert kubelet.calls[0][":path"] == "/v1.PodResourcesLister/List"
    assert kubelet.calls[0]["grpc-timeout"] == "5000m"


async def test_one_connection_serves_many_questions(
    kubelet: KubeletServer, client: PodResources
) -> None:
    for _ in range(20):
        await client.held_devices()

    assert (len(kubelet.calls), kubelet.connections) == (20, 1)


async def test_questions_at_the_same_time_wait_for_each_other(
    kubelet: KubeletServer, client: PodResources
) -> None:
    answers = await asyncio.gather(*(client.held_devices() for _ in range(5)))

    assert [len(each) for each in answers] == [1] * 5
    assert kubelet.connections == 1


async def test_a_restarted_kubelet_is_asked_on_a_new_connection_at_once(
    kubelet: KubeletServer, client: PodResources
) -> None:
    await client.held_devices()
    kubelet.hang_up()

    assert len(await client.held_devices()) == 1
    assert kubelet.connections == 2


async def test_a_kubelet_that_says_goodbye_is_asked_on_a_new_connection_at_once(
    kubelet: KubeletServer, client: PodResources
) -> None:
    async def last(call: Call) -> None:
        await call.head()
        await call.body(framed(b""))
        await call.trailers()
        call.http.close_connection(last_stream_id=call.stream)
        await call.flush()

    good, kubelet.behave = kubelet.behave, last
    assert await client.held_devices() == ()
    kubelet.behave = good

    assert len(await client.held_devices()) == 1
    assert kubelet.connections == 2


async def test_ten_thousand_pods_are_read_through_the_flow_control_window(
    kubelet: KubeletServer, client: PodResources
) -> None:
    kubelet.pods = [
        pod(f"pod-{n}", {"main": {"nvidia.com/gpu": [f"GPU-{n}::0"]}}) for n in range(10_000)
    ]

    held = await client.held_devices()

    assert [each.pod for each in held] == [f"pod-{n}" for n in range(10_000)]


async def test_an_answer_in_many_frames_and_pieces_is_put_together(
    kubelet: KubeletServer, client: PodResources
) -> None:
    async def drip(call: Call) -> None:
        await call.head()
        for byte in framed(b"\x0a" + bytes([len(CHAT)]) + CHAT):
            await call.body(bytes([byte]))
        await call.trailers()

    kubelet.behave = drip

    assert len(await client.held_devices()) == 1


@pytest.mark.parametrize(
    ("behaviour", "problem"),
    [
        (refused(13, "cannot%20list"), "INTERNAL: cannot list"),
        (refused(12, "unknown service"), "UNIMPLEMENTED: unknown service"),
        (body_only(b""), "an answer without a message"),
        (body_only(b"\0\xff\xff\xff\xff"), "an answer of 4294967295 bytes; at most 16777216"),
        (
            body_only(framed(b"\x0a\xff\xff\xff\xff\x0f")),
            "is no kubelet's: the answer is malformed: 4294967295 bytes wanted at byte 6",
        ),
        (body_only(framed(b"garbage")), "is no kubelet's: the answer is malformed: wire type 7"),
    ],
)
async def test_a_bad_answer_is_told_and_the_next_good_one_read(
    kubelet: KubeletServer, client: PodResources, behaviour: Behaviour, problem: str
) -> None:
    good, kubelet.behave = kubelet.behave, behaviour
    told = await refusal(client)
    kubelet.behave = good

    assert told.startswith(problem)
    assert len(await client.held_devices()) == 1


async def test_a_refusal_in_good_order_is_not_asked_twice(
    kubelet: KubeletServer, client: PodResources
) -> None:
    await client.held_devices()
    kubelet.behave = refused(8, "rate limit")

    assert await refusal(client) == "RESOURCE_EXHAUSTED: rate limit"
    assert (len(kubelet.calls), kubelet.connections) == (2, 1)


async def test_an_answer_that_ends_in_the_middle_is_told(
    kubelet: KubeletServer, client: PodResources
) -> None:
    good, kubelet.behave = kubelet.behave, half
    assert await refusal(client) in HANG_UPS
    kubelet.behave = good

    assert len(await client.held_devices()) == 1


@pytest.mark.parametrize("noise", [b"HTTP/1.1 400 Bad Request\r\n\r\n", b"\xb8c\x08", b""])
async def test_a_socket_that_is_no_kubelets_is_told(tmp_path: Path, noise: bytes) -> None:
    async def other(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read(10)
        writer.write(noise)
        writer.close()

    path = tmp_path / "other.sock"
    async with await asyncio.start_unix_server(other, path):
        told = await refusal(PodResources(settings(path)))

    assert told in {*HANG_UPS, "the other side speaks no HTTP/2"}


async def test_a_silent_kubelet_is_given_up_and_the_next_question_gets_a_new_connection(
    kubelet: KubeletServer,
) -> None:
    impatient = replace(settings(kubelet.path), deadline_seconds=0.05)
    client = PodResources(impatient)
    good, kubelet.behave = kubelet.behave, silent

    assert await refusal(client) == "no answer within 0.05 s"
    kubelet.behave = good
    patient = PodResources(settings(kubelet.path))
    assert len(await patient.held_devices()) == 1
    assert kubelet.connections == 2
    await patient.close()


async def test_a_question_that_is_cancelled_leaves_no_half_used_connection(
    kubelet: KubeletServer, client: PodResources
) -> None:
    good, kubelet.behave = kubelet.behave, silent
    asking = asyncio.create_task(client.held_devices())
    while not kubelet.calls:  # noqa: ASYNC110 the fake has no event for it
        await asyncio.sleep(0)  # noqa: TID251 only lets the others run
    asking.cancel()
    await asyncio.gather(asking, return_exceptions=True)
    kubelet.behave = good

    assert len(await client.held_devices()) == 1
    assert kubelet.connections == 2


async def test_a_missing_socket_says_what_to_mount(tmp_path: Path) -> None:
    client = PodResources(settings(tmp_path / "none.sock"))

    assert await refusal(client) == (
        "is not there; mount the folder /var/lib/kubelet/pod-resources into the container"
    )


async def test_a_socket_nobody_listens_on_is_told(tmp_path: Path) -> None:
    path = tmp_path / "old.sock"
    server = await asyncio.start_unix_server(lambda _reader, _writer: None, path)
    server.close()
    await server.wait_closed()

    told = await refusal(PodResources(settings(path)))

    assert told.startswith(("nobody listens", "is not there"))


async def test_the_socket_of_another_user_says_who_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def denied(_path: str) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(asyncio, "open_unix_connection", denied)  # tests run as root, whom no
    # mode stops

    told = await refusal(PodResources(settings(tmp_path / "kubelet.sock")))

    assert told == "permission denied; the kubelet's socket is root's: run as user 0"


async def test_noise_in_place_of_frames_is_told(
    kubelet: KubeletServer, client: PodResources
) -> None:
    kubelet.behave = raw(b"\x00\x00\x04\xff\xff\xff\xff\xff\xff" + bytes(64))

    told = await refusal(client)

    assert told.startswith("the other side speaks no HTTP/2") or told in HANG_UPS
