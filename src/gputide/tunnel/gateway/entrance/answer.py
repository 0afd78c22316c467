"""Answers of an entrance; the reason of a refusal stands in the status line for Prometheus."""

import asyncio
from dataclasses import dataclass

import h11
import structlog

from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

log = structlog.stdlib.get_logger()

MAX_REASON = 200
OUTCOME_HEADER = "Gputide-Outcome"
"""Of refusals: the code, for programs; what a node itself answers has none."""

CLIENT_NOT_ALLOWED = "client_not_allowed"
WRITE_SECONDS = 30.0
"""A client that takes its answer no faster is cut off: the page must not stay in memory."""

STATUS_OF = {
    Code.NOT_ALLOWED: 403,
    Code.UNKNOWN_NODE: 502,
    Code.UNREACHABLE: 502,
    Code.TARGET_TIMED_OUT: 504,
    Code.TIMED_OUT: 504,
    Code.TOO_LARGE: 502,
    Code.TOO_MANY: 503,
    Code.UNSUPPORTED: 501,
    Code.BAD_REQUEST: 400,
    Code.SLOW_READER: 503,
    Code.GONE: 502,
    Code.FAILED: 502,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes
    headers: tuple[tuple[str, str], ...] = ()
    reason: str = ""


def refused(status: int, text: str, *, code: str) -> Answer:
    """Return an answer whose status line says why: Prometheus' targets page shows just that."""
    plain = " ".join(text.split()).encode("ascii", "replace").decode()[:MAX_REASON]
    return Answer(
        status=status,
        body=f"{text}\n".encode(),
        headers=(("Content-Type", "text/plain; charset=utf-8"), (OUTCOME_HEADER, code)),
        reason=plain,
    )


def answer_of(error: TunnelRefusedError) -> Answer:
    """Return the answer that a refusal becomes."""
    return refused(STATUS_OF[error.code], str(error), code=error.code)


async def write_answer(
    writer: asyncio.StreamWriter,
    connection: h11.Connection,
    answer: Answer,
    *,
    is_head: bool = False,
    seconds: float = WRITE_SECONDS,
) -> None:
    """Send an answer; after an unreadable request the connection is closed with it.

    Raises TimeoutError, with the connection cut, where the client does not take it in `seconds`.
    """
    headers = [(name, value) for name, value in answer.headers if name.lower() != "content-length"]
    headers.append(("Content-Length", str(len(answer.body))))
    if connection.their_state is h11.ERROR or connection.our_state is h11.IDLE:
        headers.append(("Connection", "close"))
    response = h11.Response(
        status_code=answer.status, headers=headers, reason=answer.reason.encode()
    )
    parts = [connection.send(response)]
    if not is_head:
        parts.append(connection.send(h11.Data(data=answer.body)))
    parts.append(connection.send(h11.EndOfMessage()))
    writer.write(b"".join(part for part in parts if part))
    try:
        async with asyncio.timeout(seconds):
            await writer.drain()
    except TimeoutError:
        peer = writer.get_extra_info("peername")
        log.warning("client took no answer in time", client=str(peer), bytes=len(answer.body))
        writer.transport.abort()
        raise
