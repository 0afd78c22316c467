"""get and list of a computed group, whose answers are made when asked."""

import asyncio
from collections.abc import Coroutine
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.model import JsonObject, ReadRequest, User
from gputide.kubeapi.negotiate import TABLES, Form, negotiated
from gputide.kubeapi.paths import Target
from gputide.kubeapi.ports import Computed
from gputide.kubeapi.table import Shown


async def read(
    computed: Computed, target: Target, request: Request, *, user: User, now_seconds: float
) -> Response:
    """Answer with what the group says; as a Table where the client takes one."""
    if request.method != "GET" or request.query_params.get("watch") in ("true", "1"):
        raise StatusError(
            405,
            "MethodNotAllowed",
            "the server does not allow this method on the requested resource: it is computed, "
            "and can be read by get and list alone",
        )
    query = request.query_params
    asked = ReadRequest(
        user=user,
        verb="get" if target.name else "list",
        resource=target.resource,
        namespace=target.namespace,
        name=target.name,
        subresource=target.subresource,
        query={name: tuple(query.getlist(name)) for name in query},
    )
    answer = await _while_connected(request, computed.read(asked))
    accepted = negotiated(request.headers.get("accept", ""), TABLES)
    if accepted.form is Form.PLAIN or not _is_named(answer):
        return json_answer(answer)
    include = query.get("includeObject", "")
    shown = Shown(accepted, (), include=include, now_seconds=now_seconds)
    return json_answer(shown.many(answer) if "items" in answer else shown.one(answer))


async def _while_connected(
    request: Request, answering: Coroutine[Any, Any, JsonObject]
) -> JsonObject:
    """Return the answer; end the work where the client went away before."""
    answer = asyncio.create_task(answering)
    gone = asyncio.create_task(_gone(request))
    try:
        await asyncio.wait((answer, gone), return_when=asyncio.FIRST_COMPLETED)
        if not answer.done():
            raise ClientDisconnect
        return answer.result()
    finally:
        for task in (answer, gone):
            task.cancel()


async def _gone(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass


def _is_named(answer: JsonObject) -> bool:
    """Whether the answer's objects have names; a metric's value has none, and is no row."""
    items = answer["items"] if isinstance(answer.get("items"), list) else [answer]
    return all((one.get("metadata") or {}).get("name") for one in items)
