"""What of the rows outlives the process: decision memory, by key."""

from collections.abc import Mapping

import numpy as np

from gputide.autoscaler.model import FloatArray
from gputide.autoscaler.rows import Rows
from gputide.scaling import Memory

MAX_AGE_SECONDS = 3600.0
"""Older state says nothing about now."""

SavedState = Mapping[str, FloatArray | list[str]]


def save_rows(rows: Rows) -> SavedState:
    """Return the memory of all rows with their keys and uids."""
    keys = [str(key) for key in rows.order]
    uids = [rows.by_key[key].subject.uid for key in rows.order]
    return {"keys": keys, "uids": uids, **rows.memory.save()}


def restore_rows(rows: Rows, state: SavedState, *, now_seconds: float) -> None:
    """Give the rows the memory that was saved for them; a row without one stays new."""
    arrays: dict[str, FloatArray] = {
        name: np.asarray(value) for name, value in state.items() if name not in ("keys", "uids")
    }
    times = arrays.get("highest_times", np.empty(0))
    if not len(times) or not 0 <= now_seconds - float(times.max()) <= MAX_AGE_SECONDS:
        return
    names = list(zip(state["keys"], state["uids"], strict=True))
    places = {name: place for place, name in enumerate(names)}
    wanted = [places.get((str(key), rows.by_key[key].subject.uid), -1) for key in rows.order]
    rows.memory = Memory.restore(arrays).select(np.array(wanted, np.intp))
