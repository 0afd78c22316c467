"""What the server needs from outside: objects, computed answers, who asks, and whether they may."""

from collections.abc import AsyncIterator, Callable, Sequence
from typing import Protocol

from gputide.kubeapi.model import (
    Attributes,
    ComputedResource,
    Credentials,
    JsonObject,
    Kind,
    Page,
    ReadRequest,
    Ruling,
    Selection,
    User,
    WatchEvent,
)


class Storage(Protocol):
    """Objects of stored kinds. Every method raises `errors.StatusError` as Kubernetes would.

    Objects that are handed in or out are the caller's own copies. `resourceVersion` is one counter
    over all kinds.
    """

    async def get(self, kind: Kind, namespace: str, name: str) -> JsonObject:
        """Return one object; 404."""

    async def list(
        self, kind: Kind, selection: Selection, *, limit: int = 0, continue_token: str = ""
    ) -> Page:
        """Return the objects in order of namespace and name; 410 for an old continue token."""

    async def create(self, kind: Kind, obj: JsonObject, *, is_dry_run: bool = False) -> JsonObject:
        """Store a new object and return it with uid, creationTimestamp, generation; 409."""

    async def update(
        self,
        kind: Kind,
        namespace: str,
        name: str,
        change: Callable[[JsonObject], JsonObject],
        *,
        is_dry_run: bool = False,
    ) -> JsonObject:
        """Store what `change` makes of the present object, and return it.

        Atomic: nobody writes between. `change` raises StatusError to refuse (a stale
        resourceVersion, say). An update that changes nothing keeps the resource version. Removing
        the last finalizer of an object under deletion deletes it.
        """

    async def delete(  # noqa: PLR0913 all that DeleteOptions say
        self,
        kind: Kind,
        namespace: str,
        name: str,
        *,
        uid: str | None = None,
        resource_version: str | None = None,
        propagation: str = "",
        is_dry_run: bool = False,
    ) -> JsonObject:
        """Delete it (or mark it, while it has finalizers) and return its last state; 404, 409.

        `propagation`: "Background" (also ""), "Foreground" or "Orphan", as in DeleteOptions.
        """

    def watch(
        self, kind: Kind, selection: Selection, *, resource_version: str, has_bookmarks: bool
    ) -> AsyncIterator[WatchEvent]:
        """Yield what happens after that version ("" or "0": present objects first); 410."""


class Computed(Protocol):
    """One read-only API group version whose answers are made when asked."""

    @property
    def group(self) -> str:
        """The API group."""

    @property
    def version(self) -> str:
        """The version."""

    def resources(self) -> Sequence[ComputedResource]:
        """Return what discovery lists, from memory: never waits on anybody."""

    async def read(self, request: ReadRequest) -> JsonObject:
        """Return the object or list asked for; raise StatusError."""


class Authenticator(Protocol):
    """Finds out who asks; several are asked in turn."""

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the user, or None where this one cannot tell; raise StatusError (401) on a lie."""


class Authorizer(Protocol):
    """Says whether somebody may do something."""

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Return the ruling; whoever cannot find out refuses."""
