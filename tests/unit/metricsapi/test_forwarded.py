"""Whether a request was sent on to us."""

import pytest
from starlette.types import Message, Receive, Scope, Send

from gputide.metricsapi.forwarded import HEADER, NotesForwarded, is_forwarded


@pytest.mark.parametrize(
    ("headers", "expected"), [([], False), ([(HEADER.lower().encode(), b"1")], True)]
)
async def test_the_header_is_noted_for_whoever_answers(
    headers: list[tuple[bytes, bytes]],
    expected: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    seen = []

    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        seen.append(is_forwarded())

    async def nothing(_message: Message | None = None) -> Message:
        return {}

    await NotesForwarded(app)({"type": "http", "headers": headers}, nothing, nothing)

    assert seen == [expected]
