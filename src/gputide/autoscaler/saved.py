"""What of the rows outlives the process: decision memory, by key."""

from collections.abc import Mapping

import numpy as np

from gputide.autoscaler.model import FloatArray
from gputide.autoscaler.rows import Rows
from gputide.autoscaler.times import hold_after_gap
from gputide.scaling import Memory

MAX_AGE_SECONDS = 3600.0
"""Older state says nothing about now."""

SavedState = Mapping[str, FloatArray | list[str]]


def save_rows(rows: Rows) -> SavedState:
    """Return the memory of all rows with their keys and uids."""
    keys = [str(key) for key in rows.order]
    uids = [rows.by_key[key].subject.uid for key in rows.order]
    decided = np.array([rows.decided_at_seconds])
    return {"keys": keys, "uids": uids, "decided_at_seconds": decided, **rows.memory.save()}


def restore_rows(
    rows: Rows, state: SavedState, *, now_seconds: float, longest_gap_seconds: float
) -> None:
    """Give the rows the memory that was saved for them; a row without one stays new.

    Raises ValueError, KeyError or IndexError for a state whose parts do not fit together.
    """
    arrays: dict[str, FloatArray] = {
        name: np.asarray(value) for name, value in state.items() if name not in ("keys", "uids")
    }
    passed = now_seconds - float(arrays.pop("decided_at_seconds")[0])
    if not 0 <= passed <= MAX_AGE_SECONDS:
        return
    names = list(zip(state["keys"], state["uids"], strict=True))
    places = {name: place for place, name in enumerate(names)}
    wanted = [places.get((str(key), rows.by_key[key].subject.uid), -1) for key in rows.order]
    memory = Memory.restore(arrays).select(np.array(wanted, np.intp))
    if passed > longest_gap_seconds:
        hold_after_gap(memory, now_seconds=now_seconds)
    rows.memory = memory
