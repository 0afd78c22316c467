"""What `kubectl get` would print of an object."""

from gputide.kubeapi.model import JsonObject, Kind


def row(kind: Kind, obj: JsonObject, *, is_wide: bool = False) -> dict[str, object]:
    """Return column -> cell, of the columns that are shown."""
    shown = [one for one in kind.columns if is_wide or not one.priority]
    return {one.name: one.read(obj) for one in shown}


def messages(kind: Kind, obj: JsonObject, old: JsonObject | None = None) -> list[tuple[str, str]]:
    """Return (field, message) of what the kind finds wrong, after defaults."""
    assert kind.validate is not None
    new = kind.default(obj) if kind.default else obj
    return [(one.field, one.message) for one in kind.validate(new, old)]
