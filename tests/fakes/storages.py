"""A storage in memory, a kind, and objects of it."""

from collections.abc import AsyncIterator, Callable

from fakes.clock import FakeClock
from gputide.kubeapi.model import JsonObject, Kind, Scope, Selection, WatchEvent
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.storage.model import Bounds

WIDGET = Kind(group="x.io", version="v1", kind="Widget", plural="widgets", has_status=True)
WIDGET_V2 = Kind(group="x.io", version="v2", kind="Widget", plural="widgets")
GADGET = Kind(group="x.io", version="v1", kind="Gadget", plural="gadgets", scope=Scope.CLUSTER)
NAMESPACE = Kind(group="", version="v1", kind="Namespace", plural="namespaces", scope=Scope.CLUSTER)
ALL = Selection()


def storage(bounds: Bounds | None = None, **options: bool) -> SqliteStorage:
    """Return an empty storage in memory."""
    return SqliteStorage.open(
        ":memory:", FakeClock(), select=by_one_label, bounds=bounds or Bounds(), **options
    )


def by_one_label(selection: Selection) -> Callable[[JsonObject], bool]:
    """Compile `key=value`, all of the selectors that these tests need."""
    key, _, value = selection.label_selector.partition("=")
    return lambda obj: (obj["metadata"].get("labels") or {}).get(key) == value


def widget(name: str = "a", namespace: str = "n", **metadata: object) -> JsonObject:
    """Return a widget as a client sends it."""
    return {
        "apiVersion": "x.io/v1",
        "kind": "Widget",
        "metadata": {"name": name, "namespace": namespace, **metadata},
        "spec": {"size": 1},
    }


def sized(size: int) -> Callable[[JsonObject], JsonObject]:
    """Return a change that sets `spec.size`."""
    return lambda obj: obj | {"spec": {"size": size}}


def with_metadata(**metadata: object) -> Callable[[JsonObject], JsonObject]:
    """Return a change of metadata."""
    return lambda obj: obj | {"metadata": obj["metadata"] | metadata}


async def taken(events: AsyncIterator[WatchEvent], count: int) -> list[tuple[str, str]]:
    """Return type and name of the next events."""
    found = [await anext(events) for _ in range(count)]
    return [(one.type.value, one.object["metadata"].get("name", "")) for one in found]
