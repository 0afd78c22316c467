"""When a status is written: at once where it matters, once a minute for mere numbers. Pure."""

from collections.abc import Mapping
from typing import Any

NUMBERS = frozenset(
    {
        *("current", "forecast", "currentMetrics", "coverage", "reason", "podsWithSamples"),
        *("proactiveReplicas", "reactiveReplicas", "periods", "periodicity"),
    }
)
NUMBERS_SECONDS = 60.0


def is_due(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    since_write_seconds: float | None,
) -> bool:
    """Return whether a status should be written; `since_write_seconds` None: never written."""
    if since_write_seconds is None:
        return dict(before) != dict(after)
    if _weighty(before) != _weighty(after):
        return True
    has_changed = any(before.get(name) != after.get(name) for name in NUMBERS)
    return has_changed and since_write_seconds >= NUMBERS_SECONDS


def _weighty(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is written at once; of a condition its message may lag, its state may not."""
    kept = {name: value for name, value in status.items() if name not in NUMBERS}
    kept["conditions"] = [
        (one.get("type"), one.get("status"), one.get("reason"), one.get("observedGeneration"))
        for one in status.get("conditions") or ()
    ]
    return kept
