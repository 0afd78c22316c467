"""What an API server serves at the moment: kinds, computed groups, endpoints, other servers."""

import re
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp

from gputide.kubeapi.model import JsonObject, Kind, User
from gputide.kubeapi.paths import Target
from gputide.kubeapi.ports import Computed

_VERSION = re.compile(r"v(\d+)(?:(alpha|beta)(\d+))?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Call:
    """One request to an endpoint, which has passed authentication and authorization."""

    request: Request
    user: User
    target: Target
    verb: str


Endpoint = Callable[[Call], Awaitable[Response]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Virtual:
    """A resource that nobody stores and an endpoint answers: a review, the log of a pod."""

    group: str
    version: str
    name: str
    """`pods/log`: parent and subresource; else a plain name."""

    kind: str
    verbs: tuple[str, ...]
    endpoint: Endpoint
    is_namespaced: bool = True

    response_group: str = ""
    """Group and version of the kind where they differ from where it lies, as of a Scale."""

    response_version: str = ""


class Proxied(Protocol):
    """One API group version that another server answers (an APIService)."""

    @property
    def group(self) -> str:
        """The API group."""

    @property
    def version(self) -> str:
        """The version."""

    def resource_list(self) -> JsonObject | None:
        """Return the other server's APIResourceList, from memory; None where it is not known.

        Hand out the same object until it changes: discovery is made anew only then.
        """

    @property
    def app(self) -> ASGIApp:
        """What forwards a request; `scope["user"]` is the `User`, authorized already."""


@dataclass(slots=True)
class GroupVersion:
    """All that is served under one group and version."""

    group: str
    version: str
    kinds: dict[str, Kind] = field(default_factory=dict)
    virtual: dict[str, Virtual] = field(default_factory=dict)
    computed: Computed | None = None
    proxied: Proxied | None = None

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def is_empty(self) -> bool:
        """Whether nothing is served any more."""
        return not (self.kinds or self.virtual or self.computed or self.proxied)


class Registry:
    """What is served; may change while the server runs, and discovery follows.

    Not thread-safe: change it in the event loop of the server.
    """

    def __init__(self, *, kinds: Iterable[Kind] = (), computed: Iterable[Computed] = ()) -> None:
        self._groups: dict[tuple[str, str], GroupVersion] = {}
        self.revision = 0
        """Grows with each change."""

        for kind in kinds:
            self.add_kind(kind)
        for group in computed:
            self.add_computed(group)

    def add_kind(self, kind: Kind) -> None:
        """Serve a kind, or its new form."""
        self._at(kind.group, kind.version).kinds[kind.plural] = kind
        self.revision += 1

    def remove_kind(self, kind: Kind) -> None:
        """Stop serving a kind; nothing happens where it is not served."""
        group = self._groups.get((kind.group, kind.version))
        if group is not None and group.kinds.pop(kind.plural, None) is not None:
            self._changed(group)

    def add_virtual(self, virtual: Virtual) -> None:
        """Serve a resource, or a subresource of a kind, that an endpoint answers."""
        self._at(virtual.group, virtual.version).virtual[virtual.name] = virtual
        self.revision += 1

    def add_computed(self, computed: Computed) -> None:
        """Serve a computed group version."""
        self._at(computed.group, computed.version).computed = computed
        self.revision += 1

    def remove_computed(self, group: str, version: str) -> None:
        """Stop serving a computed group version."""
        found = self._groups.get((group, version))
        if found is not None and found.computed is not None:
            found.computed = None
            self._changed(found)

    def add_proxied(self, proxied: Proxied) -> None:
        """Hand a group version to another server."""
        self._at(proxied.group, proxied.version).proxied = proxied
        self.revision += 1

    def remove_proxied(self, group: str, version: str) -> None:
        """Stop handing a group version to another server."""
        found = self._groups.get((group, version))
        if found is not None and found.proxied is not None:
            found.proxied = None
            self._changed(found)

    def find(self, group: str, version: str) -> GroupVersion | None:
        """Return what is served there, or None."""
        return self._groups.get((group, version))

    def kinds(self) -> tuple[Kind, ...]:
        """Return every stored kind."""
        return tuple(kind for one in self._groups.values() for kind in one.kinds.values())

    def groups(self) -> Mapping[str, Sequence[GroupVersion]]:
        """Return the versions of each group, the preferred one first; "" is the core group."""
        found: dict[str, list[GroupVersion]] = {}
        for one in self._groups.values():
            found.setdefault(one.group, []).append(one)
        return {
            group: sorted(versions, key=lambda one: version_order(one.version))
            for group, versions in found.items()
        }

    def _at(self, group: str, version: str) -> GroupVersion:
        return self._groups.setdefault((group, version), GroupVersion(group, version))

    def _changed(self, group: GroupVersion) -> None:
        if group.is_empty:
            del self._groups[group.group, group.version]
        self.revision += 1


def version_order(version: str) -> tuple[int, int, int, str]:
    """Return a key that sorts versions as Kubernetes does: the most stable and newest first.

    >>> sorted(["v1beta1", "v2", "v1", "foo", "v1beta2", "v3alpha1"], key=version_order)
    ['v2', 'v1', 'v1beta2', 'v1beta1', 'v3alpha1', 'foo']
    """
    match = _VERSION.fullmatch(version)
    if match is None:
        return (3, 0, 0, version)
    stage = {None: 0, "beta": 1, "alpha": 2}[match[2]]
    return (stage, -int(match[1]), -int(match[3] or 0), version)
