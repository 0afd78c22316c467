"""What the server tells about itself: discovery, OpenAPI, version, health."""

from collections.abc import Callable, Sequence

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response

from gputide.kubeapi.discovery import Discovery
from gputide.kubeapi.discovery.documents import Document
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.objects import missing
from gputide.kubeapi.negotiate import DISCOVERY, JSON_TYPE, negotiated

HEALTH = ("healthz", "livez", "readyz")


class Tells:
    """Answers every path that is no resource, from memory."""

    def __init__(self, discovery: Discovery, *, version: str, ready: Callable[[], str]) -> None:
        self._discovery = discovery
        self._version = version
        self._ready = ready

    def answer(self, request: Request, parts: Sequence[str]) -> Response:
        """Return the answer; raise 404 for a path that nothing is at."""
        first = parts[0] if parts else ""
        if first in HEALTH:
            return self._health(first)
        if first == "version" and len(parts) == 1:
            return json_answer(self._version_info())
        if first in ("api", "apis"):
            return self._discovered(request, parts)
        found = self._openapi(parts) if first == "openapi" else None
        if found is None:
            raise missing()
        return _document(request, found, JSON_TYPE)

    def _health(self, name: str) -> Response:
        """Answer a probe; only readyz asks whether the server can be used."""
        why = self._ready() if name == "readyz" else ""
        if why:
            raise StatusError(503, "ServiceUnavailable", f"not ready: {why}")
        return PlainTextResponse("ok")

    def _version_info(self) -> dict[str, str]:
        major, minor, *_ = self._version.lstrip("v").split(".")
        return {"major": major, "minor": minor, "gitVersion": self._version, "platform": "linux"}

    def _discovered(self, request: Request, parts: Sequence[str]) -> Response:
        discovery, content_type = self._discovery, JSON_TYPE
        if len(parts) == 1:
            accepted = negotiated(request.headers.get("accept", ""), DISCOVERY)
            content_type = accepted.content_type
            if parts[0] == "apis":
                found = discovery.groups(accepted)
            else:
                found = discovery.core(accepted, request.headers.get("host", ""))
        else:
            group, versions = ("", parts[1:]) if parts[0] == "api" else (parts[1], parts[2:])
            if len(versions) > 1:
                raise missing()
            is_group = not versions
            found = discovery.group(group) if is_group else discovery.resources(group, *versions)
        if found is None:
            raise missing()
        response = _document(request, found, content_type)
        if len(parts) == 1:
            response.headers["vary"] = "Accept"
        return response

    def _openapi(self, parts: Sequence[str]) -> Document | None:
        if tuple(parts) == ("openapi", "v3"):
            return self._discovery.openapi_index()
        if tuple(parts[1:3]) == ("v3", "api") and len(parts) == 4:
            return self._discovery.openapi("", parts[3])
        if tuple(parts[1:3]) == ("v3", "apis") and len(parts) == 5:
            return self._discovery.openapi(parts[3], parts[4])
        return None


def _document(request: Request, document: Document, content_type: str) -> Response:
    tag = f'"{document.etag}"'
    stated = request.headers.get("if-none-match", "")
    if any(one.strip().removeprefix("W/") == tag for one in stated.split(",")):
        return Response(status_code=304, headers={"etag": tag})
    headers = {"etag": tag, "content-type": content_type}
    return Response(document.body, headers=headers)
