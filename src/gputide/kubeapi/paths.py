"""What a URL path asks for, read as Kubernetes reads it."""

from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import unquote

MAX_SEGMENTS = 16
_NAMESPACE_SUBRESOURCES = ("status", "finalize")


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A resource path, taken apart; "" where a part is not given."""

    group: str
    version: str
    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""

    @property
    def is_namespace_itself(self) -> bool:
        """Whether the object is a Namespace."""
        return self.group == "" and self.resource == "namespaces"


def segments(raw_path: bytes | str) -> tuple[str, ...]:
    """Return the decoded segments of a path; an escaped slash stays within its segment.

    >>> segments("/api/v1/pods/a%2Fb")
    ('api', 'v1', 'pods', 'a/b')
    """
    text = raw_path.decode("latin-1") if isinstance(raw_path, bytes) else raw_path
    return tuple(unquote(part) for part in text.strip("/").split("/") if part)


def target(parts: Sequence[str]) -> Target | None:
    """Return what a resource path asks for, or None for any other path.

    >>> found = target(("apis", "apps", "v1", "namespaces", "n", "deployments", "d", "scale"))
    >>> found.resource, found.namespace, found.name, found.subresource
    ('deployments', 'n', 'd', 'scale')
    """
    if len(parts) > MAX_SEGMENTS:
        return None
    if parts[:1] == ("api",) and len(parts) > 2:
        return _resource("", parts[1], parts[2:])
    if parts[:1] == ("apis",) and len(parts) > 3:
        return _resource(parts[1], parts[2], parts[3:])
    return None


def _resource(group: str, version: str, rest: Sequence[str]) -> Target:
    namespace = ""
    if rest[0] == "namespaces" and len(rest) > 2 and rest[2] not in _NAMESPACE_SUBRESOURCES:
        namespace, rest = rest[1], rest[2:]
    resource, name, subresource = (*rest[:2], *[""] * (2 - len(rest[:2])), "/".join(rest[2:]))
    if group == "" and resource == "namespaces":
        namespace = name  # as an authorizer is asked
    return Target(
        group=group,
        version=version,
        resource=resource,
        namespace=namespace,
        name=name,
        subresource=subresource,
    )
