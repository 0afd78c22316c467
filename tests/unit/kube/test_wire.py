import json
from collections.abc import AsyncIterator
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kube.errors import GoneError, KubeError
from gputide.kube.model import PODS, EventType, WatchEvent
from gputide.kube.wire import MAX_LINE_BYTES, decode_list, decode_object, read_events

DEEP = b'{"a":' * 100_000
GARBAGE = [b"", b"<html>", b"[]", b"1", b'"\xff"', b'{"a"', DEEP]
ODD_EVENTS = [
    b"nonsense\n",
    b'{"type": "ADDED"}\n',
    b'{"type": "ADDED", "object": []}\n',
    b'{"type": "ADDED", "object": {"metadata": 1}}\n',
    b'{"type": "UNHEARD", "object": {}}\n',
    b'{"type": "ERROR", "object": {"code": "no"}}\n',
    b'{"type": "ERROR", "object": {"code": 1e99}}\n',
    DEEP + b"\n",
]


async def pieces(content: bytes, size: int) -> AsyncIterator[bytes]:
    for start in range(0, len(content), size):
        yield content[start : start + size]


async def events(content: bytes, size: int = 4096) -> list[WatchEvent[dict[str, Any]]]:
    return [event async for event in read_events(pieces(content, size), "watch /x")]


def line(kind: str, name: str, version: int) -> bytes:
    obj = {"metadata": {"name": name, "resourceVersion": str(version)}}
    return json.dumps({"type": kind, "object": obj}).encode() + b"\n"


@pytest.mark.parametrize("body", GARBAGE)
def test_what_is_no_object_is_told_as_such(body: bytes) -> None:
    with pytest.raises(KubeError, match="answers with no object"):
        decode_object(body, "GET /x")


@pytest.mark.parametrize("body", [*GARBAGE, b'{"items": [1]}', b'{"metadata": 3}'])
def test_what_is_no_list_is_told_as_such(body: bytes) -> None:
    with pytest.raises(KubeError, match="answers with no list"):
        decode_list(body, PODS)


def test_a_list_item_without_readable_metadata_is_told_as_such() -> None:
    with pytest.raises(KubeError, match="metadata is no object"):
        decode_list(b'{"items": [{"metadata": "x"}]}', PODS)


def test_list_items_get_the_kind_that_lists_leave_out() -> None:
    body = b'{"metadata": {"resourceVersion": "5", "continue": "t"}, "items": [{}, {"kind": "P"}]}'

    page = decode_list(body, PODS)

    assert [item["kind"] for item in page.items] == ["Pod", "P"]
    assert (page.resource_version, page.continue_token) == ("5", "t")


def test_a_list_of_nothing_may_be_null() -> None:
    assert decode_list(b'{"items": null}', PODS).items == []


@given(size=st.integers(1, 200))
async def test_any_chunking_of_a_watch_gives_the_same_events(size: int) -> None:
    content = line("ADDED", "a", 1) + b"\n" + line("BOOKMARK", "", 2) + line("DELETED", "ä", 3)

    found = await events(content, size)

    assert [event.type for event in found] == [
        EventType.ADDED,
        EventType.BOOKMARK,
        EventType.DELETED,
    ]
    assert [event.resource_version for event in found] == ["1", "2", "3"]


async def test_a_line_that_was_cut_off_is_no_event() -> None:
    assert len(await events(line("ADDED", "a", 1) + line("ADDED", "b", 2)[:-5])) == 1


async def test_an_error_event_is_raised_as_what_it_says() -> None:
    with pytest.raises(GoneError, match="too old"):
        await events(b'{"type": "ERROR", "object": {"code": 410, "message": "too old"}}\n')


@pytest.mark.parametrize("content", ODD_EVENTS)
async def test_an_odd_event_is_an_error_of_ours(content: bytes) -> None:
    with pytest.raises(KubeError):
        await events(content)


async def test_an_endless_line_is_not_kept_in_memory() -> None:
    with pytest.raises(KubeError, match="more than"):
        await events(b"x" * (MAX_LINE_BYTES + 2), 1 << 20)
