"""How often a source was sampled, and whether it kept to that."""

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.load.samples import Samples
from gputide.backtest.model import FloatArray
from gputide.errors import InputError

MIN_STEP_SECONDS = 1
MAX_STEP_SECONDS = 3600
USUAL_STEPS_SECONDS = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600)
LONG_RUN = 12
"""That many equal steps in a row that are not the cadence are a second cadence, not gaps."""


def cadence_seconds(samples: Samples) -> int:
    """Return the seconds from one sample of a series to the next, 1 to 3600.

    Raise InputError where there are too few samples, or two cadences.
    """
    steps, rows = _steps(samples)
    if not len(steps):
        raise InputError(samples.name, "has one time only: at least two are needed")
    step = _typical(steps)
    if step < MIN_STEP_SECONDS:
        raise InputError(
            samples.place(int(rows[0])), f"rows lie {_shown(steps)} s apart, at least 1"
        )
    if step > MAX_STEP_SECONDS:
        raise InputError(
            samples.place(int(rows[0])),
            f"rows lie {_shown(steps)} s apart, at most {MAX_STEP_SECONDS} (an hour)",
        )
    _require_one_cadence(samples, steps, rows, step)
    return step


def _steps(samples: Samples) -> tuple[FloatArray, NDArray[np.int64]]:
    """Return the distances to the sample before, of the same key, and the samples they end at."""
    steps = np.diff(samples.times)
    rows = np.flatnonzero((np.diff(samples.keys) == 0) & (steps > 0))
    return steps[rows], rows + 1


def _typical(steps: FloatArray) -> int:
    """Return the commonest distance; where times jitter, the usual cadence next to the median."""
    whole, counts = np.unique(np.rint(steps), return_counts=True)
    mode, share = float(whole[np.argmax(counts)]), counts.max() / len(steps)
    if share >= 0.5 or (share >= 0.25 and _are_multiples(steps, mode)):
        return int(mode)
    median = float(np.median(steps))
    usual = min(USUAL_STEPS_SECONDS, key=lambda step: abs(step - median))
    return usual if abs(usual - median) <= 0.05 * usual else round(median)


def _are_multiples(steps: FloatArray, step: float) -> bool:
    """Return whether nearly every distance is one or several steps: samples are lost, no more."""
    ratio = steps / max(step, MIN_STEP_SECONDS)
    is_multiple = (np.abs(ratio - np.rint(ratio)) < 0.1) & (ratio > 0.5)
    return bool(is_multiple.mean() > 0.9)


def _require_one_cadence(
    samples: Samples, steps: FloatArray, rows: NDArray[np.int64], step: int
) -> None:
    is_other = np.abs(steps / step - 1) >= 0.5
    is_like_before = np.append(False, np.abs(np.diff(steps)) < 0.25 * steps[1:])
    goes_on = is_other & np.append(False, is_other[:-1]) & is_like_before
    edges = np.flatnonzero(np.diff(np.concatenate(([False], goes_on, [False])).astype(np.int8)))
    begins, lengths = edges[::2] - 1, edges[1::2] - edges[::2] + 1
    # Of many series some may be sparse; one alone does not lose samples that evenly.
    is_cadence = lengths >= (len(steps) if samples.is_keyed else LONG_RUN)
    if lengths[lengths >= 3].sum() * 10 >= len(steps):
        is_cadence = lengths >= 3
    if is_cadence.any():
        run = int(np.argmax(is_cadence))
        begin, end = int(begins[run]), int(begins[run] + lengths[run])
        corner, before, after = int(rows[begin]) - 1, step, steps[begin]
        if begin == 0:  # the change is where this cadence ends
            corner, before, after = int(rows[end - 1]), steps[0], steps[min(end, len(steps) - 1)]
        raise InputError(
            samples.place(corner),
            f"two cadences: rows lie {before:g} s apart before this line, {after:g} s after it:"
            " split the file or resample it",
        )


def _shown(steps: FloatArray) -> str:
    return f"{float(np.median(steps)):,.6g}"
