"""What an API server serves and is asked: kinds, columns, users, requests, pages, events."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

JsonObject = dict[str, Any]
UNREADABLE = (AttributeError, IndexError, KeyError, TypeError, ValueError)
"""What a reader of an object raises where a part that no schema describes has an odd shape."""


class Scope(StrEnum):
    """Whether objects of a kind lie in a namespace."""

    NAMESPACED = "Namespaced"
    CLUSTER = "Cluster"


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """One column of `kubectl get`; the cell is read from the object."""

    name: str
    read: Callable[[JsonObject], Any]
    """Returns the cell: a string, number, boolean, or None for an empty one."""

    type: str = "string"
    """`date`: `read` returns RFC 3339 text, of which the table shows the age."""

    format: str = ""
    description: str = ""
    priority: int = 0
    """1 and more: only with `-o wide`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Problem:
    """One thing that is wrong with an object: a cause in the Status that refuses it."""

    field: str
    message: str
    reason: str = "FieldValueInvalid"


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object that the server stores."""

    group: str
    """"" for the core group."""

    version: str
    kind: str
    plural: str
    singular: str = ""
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    scope: Scope = Scope.NAMESPACED
    columns: tuple[Column, ...] = ()
    """All of them, Name too; empty: Name and Age."""

    schema: JsonObject = field(default_factory=lambda: dict(_ANY_OBJECT))
    """OpenAPI v3 schema of the whole object; `x-kubernetes-preserve-unknown-fields` where open."""

    has_status: bool = False
    """Whether `/status` is a subresource (then the main resource leaves `status` alone)."""

    scale: "ScalePaths | None" = None
    """Set: `/scale` is a subresource."""

    validate: Callable[[JsonObject, JsonObject | None], Sequence[Problem]] | None = None
    """What the schema cannot say, of the new and the old object (None on create)."""

    default: Callable[[JsonObject], JsonObject] | None = None
    """Fills in what the author left out, before validation."""

    merge_keys: Mapping[str, str] = field(default_factory=dict)
    """How lists merge: dotted path -> key of the items, for strategic merge and apply.

    `port,protocol=TCP`: strategic merge goes by the first, apply by all; `=` gives what counts
    where an item leaves it out. "" marks a set of plain values. A list without a row is replaced
    whole.
    """

    atomic_maps: frozenset[str] = frozenset()
    """Dotted paths of objects that apply owns and replaces as a whole, such as selectors."""

    has_strategic_merge: bool = True
    """Custom kinds answer 415 to a strategic merge patch, as Kubernetes does."""

    @property
    def api_version(self) -> str:
        """`group/version`, or the version alone for the core group."""
        return f"{self.group}/{self.version}" if self.group else self.version


@dataclass(frozen=True, slots=True, kw_only=True)
class ScalePaths:
    """Where a kind keeps its replicas, as in a CRD."""

    spec_replicas: tuple[str, ...] = ("spec", "replicas")
    status_replicas: tuple[str, ...] = ("status", "replicas")
    label_selector: tuple[str, ...] = ("status", "selector")
    """Path of a selector: text, or an object of matchLabels."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedResource:
    """One row of discovery of a read-only (computed) API group."""

    name: str
    """`pods/gpu_util`: parent and subresource; else a plain name."""

    kind: str
    is_namespaced: bool = True
    verbs: tuple[str, ...] = ("get",)
    singular: str = ""
    short_names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class User:
    """Who asks. `system:authenticated` is in `groups` of everybody who is known."""

    name: str
    groups: tuple[str, ...] = ()
    uid: str = ""
    extra: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


ANONYMOUS = User(name="system:anonymous", groups=("system:unauthenticated",))


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What a connection and its request prove or claim."""

    bearer_token: str | None
    """From `Authorization`; never logged."""

    peer_certificate_der: bytes | None
    """Of the TLS client, verified against one of the CAs that the server was given; else None."""

    headers: Mapping[str, tuple[str, ...]]
    """Lower-case names; only an authenticator that trusts the peer may believe X-Remote-*."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Attributes:
    """What is asked for, in the words of a SubjectAccessReview."""

    user: User
    verb: str
    path: str
    is_resource: bool
    group: str = ""
    version: str = ""
    resource: str = ""
    subresource: str = ""
    namespace: str = ""
    name: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """Whether it is allowed; `reason` is for the person who is refused."""

    is_allowed: bool
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadRequest:
    """A get or list of a computed resource; `name` and `subresource` are "" where not given."""

    user: User
    verb: str
    """`get` or `list`."""

    resource: str
    namespace: str = ""
    name: str = ""
    subresource: str = ""
    query: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Query parameters as sent: labelSelector, metricLabelSelector, ..."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Selection:
    """Which objects a list or watch wants."""

    namespace: str = ""
    """"" for all."""

    label_selector: str = ""
    field_selector: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Page:
    """Objects of a list, at one resource version."""

    items: tuple[JsonObject, ...]
    resource_version: str
    continue_token: str = ""
    remaining_count: int | None = None


class EventType(StrEnum):
    """What a watch tells."""

    ADDED = "ADDED"
    MODIFIED = "MODIFIED"
    DELETED = "DELETED"
    BOOKMARK = "BOOKMARK"


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchEvent:
    """One event; of a bookmark only the object's resource version counts."""

    type: EventType
    object: JsonObject


_ANY_OBJECT: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
