"""get and list."""

from functools import partial

from starlette.responses import Response

from gputide.kubeapi.errors import expired
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.context import Asked, number
from gputide.kubeapi.model import JsonObject, Page
from gputide.kubeapi.negotiate import TABLES, negotiated
from gputide.kubeapi.selectors import select
from gputide.kubeapi.table import Shown

MAX_PAGE = 100_000


def shown(asked: Asked) -> Shown:
    """Return what turns objects into the form that the client takes."""
    return Shown(
        negotiated(asked.request.headers.get("accept", ""), TABLES),
        asked.kind.columns,
        include=asked.parameter("includeObject"),
        now_seconds=asked.context.clock.now_seconds(),
    )


async def get(asked: Asked) -> Response:
    """Answer with one object."""
    form = shown(asked)
    obj = await asked.storage.get(asked.kind, asked.namespace, asked.target.name)
    return json_answer(form.one(obj))


async def list_objects(asked: Asked) -> Response:
    """Answer with a list, or a page of it."""
    form = shown(asked)
    selection = asked.selection
    select(selection)  # a bad selector is refused before anything is read
    limit = int(number(asked.parameter("limit"), "limit", 0, partial(int, base=10)))
    page = await asked.storage.list(
        asked.kind,
        selection,
        limit=min(limit, MAX_PAGE),
        continue_token=asked.parameter("continue"),
    )
    wanted = asked.parameter("resourceVersion")
    if asked.parameter("resourceVersionMatch") == "Exact" and wanted != page.resource_version:
        raise expired(f"resource version {wanted} is not kept; the present one can be listed")
    return json_answer(form.many(listed(asked, page)))


def listed(asked: Asked, page: Page) -> JsonObject:
    """Return a page as the list of its kind."""
    metadata: JsonObject = {"resourceVersion": page.resource_version}
    if page.continue_token:
        metadata["continue"] = page.continue_token
    if page.remaining_count is not None:
        metadata["remainingItemCount"] = page.remaining_count
    return {
        "kind": f"{asked.kind.kind}List",
        "apiVersion": asked.kind.api_version,
        "metadata": metadata,
        "items": list(page.items),
    }
