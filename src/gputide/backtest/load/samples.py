"""Samples as a source gives them: times, values, keys, and where each was read."""

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from gputide.backtest.model import FloatArray
from gputide.clock import utc_from_unix
from gputide.errors import InputError

IntArray = NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Samples:
    """`[N]` samples of one workload, ordered by key, then time; `values` are NaN where unknown."""

    name: str
    """The file as the person wrote it."""

    times: FloatArray
    """Unix seconds."""

    values: FloatArray
    keys: IntArray
    """Number of the series that a sample belongs to; all 0 where there is one."""

    lines: IntArray
    is_keyed: bool = False

    def place(self, row: int) -> str:
        """Return `FILE:LINE` of a sample."""
        return f"{self.name}:{self.lines[row]}"

    def known(self) -> "Samples":
        """Return the samples that have a value."""
        is_known = ~np.isnan(self.values)
        return self if is_known.all() else self._taken(is_known)

    def added_up(self) -> "Samples":
        """Return the samples with those of one key at one time added up."""
        is_repeat = np.append(False, (np.diff(self.keys) == 0) & (np.diff(self.times) == 0))
        if not is_repeat.any():
            return self
        starts = np.flatnonzero(~is_repeat)
        return replace(self._taken(starts), values=np.add.reduceat(self.values, starts))

    def _taken(self, rows: IntArray | NDArray[np.bool_]) -> "Samples":
        return replace(
            self,
            times=self.times[rows],
            values=self.values[rows],
            keys=self.keys[rows],
            lines=self.lines[rows],
        )


def in_order(samples: Samples, *, is_summed: bool, others: tuple[str, ...]) -> Samples:
    """Return samples in order, of a file whose rows came in any.

    Rows of one series must be in the order of their times; several at one time are taken only where
    a person asked for their sum. `others` are columns that may tell series apart, for the error.
    """
    if is_summed and not samples.is_keyed:
        return samples._taken(np.argsort(samples.times, kind="stable"))  # noqa: SLF001 our own class
    ordered = samples
    if samples.is_keyed:
        ordered = samples._taken(np.argsort(samples.keys, kind="stable"))  # noqa: SLF001 likewise
    ahead = np.diff(ordered.times)
    is_wrong = (np.diff(ordered.keys) == 0) & ((ahead < 0) if is_summed else (ahead <= 0))
    if is_wrong.any():
        raise _order_error(ordered, int(np.argmax(is_wrong)) + 1, others if not is_summed else ())
    return ordered


def _order_error(samples: Samples, row: int, others: tuple[str, ...]) -> InputError:
    before = samples.lines[row - 1]
    if samples.times[row] == samples.times[row - 1]:
        what, mend = (
            f"occurs twice (first on line {before})",
            "leave one, or add them up with --sum",
        )
    else:
        what, mend = f"lies before the one on line {before}", "sort the file by time"
    if others:
        mend = f"add series up with --sum-by {others[0]}, or all rows with --sum"
    return InputError(samples.place(row), f"time {_shown(samples, row)} {what}: {mend}")


def _shown(samples: Samples, row: int) -> str:
    return utc_from_unix(float(samples.times[row])).strftime("%Y-%m-%d %H:%M:%SZ")
