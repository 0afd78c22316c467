"""What every handler gets: the server's parts, and one request taken apart."""

import math
from collections.abc import Callable
from dataclasses import dataclass, field

from starlette.requests import Request

from gputide.clock import Clock
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import Kind, Selection, User
from gputide.kubeapi.paths import Target
from gputide.kubeapi.ports import Storage


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """What the server takes at most; beyond it a request is refused, never queued."""

    max_in_flight: int = 400
    """Requests at one time; 429."""

    max_watches: int = 1000
    """Watches and other streams at one time; 429."""

    max_body_bytes: int = 3 * 1024 * 1024
    """413."""

    deadline_seconds: float = 60
    """From the request's head to its answer; 504."""

    watch_seconds: float = 1800
    """How long a watch runs where the client does not say."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Context:
    """The server's parts."""

    clock: Clock
    storage: Storage | None = None
    limits: Limits = field(default_factory=Limits)


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One request to a stored kind."""

    context: Context
    request: Request
    user: User
    target: Target
    kind: Kind
    verb: str

    @property
    def storage(self) -> Storage:
        """Where the objects are."""
        if self.context.storage is None:
            raise StatusError(503, "ServiceUnavailable", "this server stores nothing")
        return self.context.storage

    @property
    def resource(self) -> str:
        """`plural.group`, as errors name it."""
        kind = self.kind
        return f"{kind.plural}.{kind.group}" if kind.group else kind.plural

    @property
    def namespace(self) -> str:
        """Namespace of the object; "" for a cluster-scoped one."""
        return "" if self.target.is_namespace_itself else self.target.namespace

    @property
    def selection(self) -> Selection:
        """What a list or watch is about."""
        return Selection(
            namespace=self.namespace,
            label_selector=self.parameter("labelSelector"),
            field_selector=self._field_selector,
        )

    @property
    def _field_selector(self) -> str:
        given = self.parameter("fieldSelector")
        if not self.target.name:
            return given
        mine = f"metadata.name={self.target.name}"  # a watch of one object by its own path
        return f"{given},{mine}" if given else mine

    def parameter(self, name: str) -> str:
        """Return a query parameter, "" where it is not given."""
        return self.request.query_params.get(name, "")

    def flag(self, name: str) -> bool:
        """Return a boolean query parameter."""
        return is_true(self.parameter(name))


def is_true(text: str) -> bool:
    """Return whether a query parameter says yes."""
    return text in ("true", "True", "1")


def number(text: str, name: str, otherwise: float, read: Callable[[str], float] = float) -> float:
    """Return a number of a query parameter that is 0 or more; raise 400 for anything else."""
    if not text:
        return otherwise
    try:
        value = read(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value >= 0):
        raise bad_request(f"{name}={text[:50]!r} is no number of 0 or more")
    return value
