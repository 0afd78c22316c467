"""When a status is written: at once where it matters, once a minute for mere numbers. Pure."""

from collections.abc import Mapping
from enum import IntEnum
from typing import Any

NUMBERS = frozenset(
    {
        *("current", "forecast", "currentMetrics", "coverage", "reason", "podsWithSamples"),
        *("proactiveReplicas", "reactiveReplicas", "periods", "periodicity"),
    }
)
NUMBERS_SECONDS = 60.0


class Due(IntEnum):
    """How soon a status should be written; the larger the sooner."""

    NOT = 0
    IN_TURN = 1
    """Numbers and words alone have changed: it may wait for others."""

    AT_ONCE = 2


def due(
    before: Mapping[str, Any],
    after: Mapping[str, Any],
    *,
    since_write_seconds: float | None,
) -> Due:
    """Return when a status should be written; `since_write_seconds` None: never written."""
    if _weighty(before) != _weighty(after):
        return Due.AT_ONCE
    if dict(before) == dict(after):
        return Due.NOT
    is_long_ago = since_write_seconds is None or since_write_seconds >= NUMBERS_SECONDS
    return Due.IN_TURN if is_long_ago else Due.NOT


def _weighty(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return what is written at once; of a condition its message may lag, its state may not."""
    kept = {name: value for name, value in status.items() if name not in NUMBERS}
    kept["conditions"] = [
        (one.get("type"), one.get("status"), one.get("reason"), one.get("observedGeneration"))
        for one in status.get("conditions") or ()
    ]
    return kept
