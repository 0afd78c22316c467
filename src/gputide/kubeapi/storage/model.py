"""What the storage keeps: where an object lies, what was logged, and the bounds."""

from dataclasses import dataclass, field

from gputide.kubeapi.model import EventType, JsonObject, Kind, Scope


@dataclass(frozen=True, slots=True)
class Place:
    """Where an object lies; versions of one group share their objects."""

    group: str
    plural: str
    namespace: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """One row of the event log: one revision."""

    revision: int
    type: EventType
    place: Place
    obj: bytes
    """JSON of the object after it; of a delete, its last state."""

    previous: bytes | None
    """JSON of the object before it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Held:
    """An object as it is stored, of whatever kind."""

    place: Place
    obj: JsonObject

    @property
    def uid(self) -> str:
        """Its uid."""
        return str(self.obj["metadata"]["uid"])

    def as_kind(self) -> Kind:
        """Return a kind that is good enough to update and delete it."""
        group, _, version = str(self.obj["apiVersion"]).rpartition("/")
        return Kind(
            group=group,
            version=version,
            kind=str(self.obj["kind"]),
            plural=self.place.plural,
            scope=Scope.NAMESPACED if self.place.namespace else Scope.CLUSTER,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Bounds:
    """What the storage holds at most, and what happens then."""

    max_object_bytes: int = 1_572_864
    """As etcd; a larger one is refused with 413."""

    max_pending: int = 4096
    """Requests that wait for the database; more are refused with 429."""

    max_events: int = 10_000
    """Rows of the event log; older ones are compacted, and whoever needs them gets a 410."""

    max_event_age_seconds: float = 3600

    max_behind: int = 4096
    """Events that a watcher may lag behind; then it is dropped with a 410."""

    max_watchers: int = 1024
    """Watches at one time; more are refused with 429."""


@dataclass(slots=True, kw_only=True)
class Counters:
    """The revisions that bound the event log: it holds (compacted, revision]."""

    revision: int = 1
    compacted: int = 1
    pending: list[Logged] = field(default_factory=list)
    """Logged in the present transaction, not yet told to anybody."""
