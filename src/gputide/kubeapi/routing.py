"""A request's path and method in the words of an authorizer; no routing table is needed."""

from collections.abc import Mapping
from dataclasses import dataclass

from starlette.requests import Request

from gputide.kubeapi.model import Attributes, Credentials, Ruling, User
from gputide.kubeapi.paths import Target, segments, target
from gputide.kubeapi.selectors import required_name

PEER_CERTIFICATE = "gputide.peer_certificate_der"
"""Name of the ASGI extension that holds the verified certificate of the TLS client."""

_STREAMS = frozenset({"log", "exec", "attach", "portforward", "proxy"})
_VERBS: Mapping[str, tuple[str, str]] = {
    "GET": ("get", "list"),
    "HEAD": ("get", "list"),
    "POST": ("create", "create"),
    "PUT": ("update", "update"),
    "PATCH": ("patch", "patch"),
    "DELETE": ("delete", "deletecollection"),
}
"""Method -> verb for an object, verb for a collection."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Route:
    """Where a request goes."""

    path: str
    parts: tuple[str, ...]
    verb: str
    target: Target | None = None
    """None: no resource, such as discovery."""

    asked_name: str = ""
    """The one object that a list or watch is about, by its field selector."""

    @property
    def is_long_running(self) -> bool:
        """Whether the answer is a stream."""
        if self.target is None:
            return False
        return self.verb == "watch" or self.target.subresource.partition("/")[0] in _STREAMS

    def attributes(self, user: User) -> Attributes:
        """Return what is asked for, in the words of a SubjectAccessReview."""
        found = self.target
        if found is None:
            return Attributes(user=user, verb=self.verb, path=self.path, is_resource=False)
        return Attributes(
            user=user,
            verb=self.verb,
            path=self.path,
            is_resource=True,
            group=found.group,
            version=found.version,
            resource=found.resource,
            subresource=found.subresource,
            namespace=found.namespace,
            name=found.name or self.asked_name,
        )

    def refusal(self, user: User, ruling: Ruling) -> str:
        """Return the words of a 403, as Kubernetes has them."""
        found, why = self.target, f": {ruling.reason}" if ruling.reason else ""
        if found is None:
            return f'forbidden: User "{user.name}" cannot {self.verb} path "{self.path}"{why}'
        part = f"/{found.subresource}" if found.subresource else ""
        whole = f"{found.resource}.{found.group}" if found.group else found.resource
        where = (
            f'in the namespace "{found.namespace}"' if found.namespace else "at the cluster scope"
        )
        return (
            f'{whole} "{found.name}" is forbidden: User "{user.name}" cannot {self.verb} '
            f'resource "{found.resource}{part}" in API group "{found.group}" {where}{why}'
        )


def route(request: Request) -> Route:
    """Return where a request goes."""
    raw = request.scope.get("raw_path") or request.scope["path"].encode()
    parts = segments(raw)
    found = target(parts)
    path = "/" + "/".join(parts)
    if found is None:
        return Route(path=path, parts=parts, verb=request.method.lower())
    query = request.query_params
    verb = _VERBS.get(request.method, ("", ""))[0 if found.name else 1]
    asked_name = ""
    if verb in ("list", "watch", "deletecollection"):
        asked_name = required_name(query.get("fieldSelector", ""))
    if verb in ("get", "list") and query.get("watch") in ("true", "True", "1"):
        verb = "watch"
    return Route(path=path, parts=parts, verb=verb, target=found, asked_name=asked_name)


def credentials(request: Request) -> Credentials:
    """Return what a connection and its request prove or claim."""
    headers: dict[str, tuple[str, ...]] = {}
    for name, value in request.scope["headers"]:
        key = name.decode("latin-1").lower()
        headers[key] = (*headers.get(key, ()), value.decode("latin-1"))
    scheme, _, token = headers.get("authorization", ("",))[0].partition(" ")
    extensions = request.scope.get("extensions") or {}
    return Credentials(
        bearer_token=token.strip() or None if scheme.lower() == "bearer" else None,
        peer_certificate_der=extensions.get(PEER_CERTIFICATE),
        headers=headers,
    )
