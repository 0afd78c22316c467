"""Which seasons a load has: day, week, and shorter ones such as 1 h, 8 h or 12 h.

A season shows as lines in the spectrum at multiples of its frequency, and is held against the noise
right beside each line, so that red noise, drift and bursts, whose power is spread, do not pass for
one. Histories are cut to whole days, so that every divisor of a day falls on a line of its own.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from gputide.forecast.bins import CHUNK_ROWS, bin_history
from gputide.forecast.lines import Lines, joint_evidence, lines_of
from gputide.forecast.model import DAY_SECONDS, BoolArray, FloatArray, History
from gputide.forecast.week import weekly_shares

CYCLES_PER_DAY = (1, 2, 3, 4, 6, 8, 12, 16, 18, 24, 32, 36, 48, 72)
"""Seasons looked for, as repetitions in 24 h: from a day down to 20 minutes."""

MIN_STEPS_PER_DAY = 4
"""Coarser samples show no day."""

MIN_EVIDENCE = 11.0
"""Least -ln(p) of a season against noise: what one noise in some ten thousand reaches."""

MIN_BAND_SHARE = 0.5
"""Share of the power around its lines that a season must hold, else nobody can forecast by it."""

MIN_STRENGTH = 0.1
"""Share of the variance below which a season does not matter."""

MIN_WEEK_STRENGTH = 0.04
"""The same of a week, which is measured on what the day leaves."""

MIN_SHARE_BESIDE_WEEK = 0.25
"""Strength that a shorter season must have beside a week, relative to it."""

EXCLUSIVE_SHARE = 0.93
"""A short season is the only one if its lines hold this share of all energy."""

STAND_OUT_CYCLES = 6
"""Cycles a day from which a line has neighbours enough to stand out against."""

STAND_OUT_RATIO = 3.0
"""A short season exists beside the day if its lines hold this many times what those beside hold."""

BESIDE = (-3, -2, -1, 1, 2, 3)
"""Lines beside a line, in cycles a day from it."""

OWN_SHARE = {True: 0.05, False: 0.15}
"""Least share of its energy that one half or a third as long lacks; True: it is the only one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """One season of a workload."""

    seconds: int
    strength_ratio: float
    """Share of the load's variance (outliers tamed, trend removed) that repeats with it, 0 to 1."""

    cycles_seen: float
    """How many times the history holds it."""

    @property
    def is_weak(self) -> bool:
        """Whether it was seen less than twice in full: a week on 8 to 13 days."""
        return self.cycles_seen < 2


def find_periods(history: History) -> tuple[tuple[Period, ...], ...]:
    """Return the seasons of each workload, strongest first; nothing where there is none.

    A day and less needs two whole days of history; a week needs 14, or 8 for a claim that is marked
    weak. At most the last 28 days are looked at. Harmonics of a season are not reported.
    """
    is_too_short = history.values.shape[1] < 2 * history.steps_per_day
    if is_too_short or history.steps_per_day < MIN_STEPS_PER_DAY:
        return ((),) * len(history.values)
    found: list[tuple[Period, ...]] = []
    for start in range(0, len(history.values), CHUNK_ROWS):
        bins = bin_history(history, rows=slice(start, start + CHUNK_ROWS))
        shares = weekly_shares(bins)
        within_day = _daily_seasons(lines_of(bins), bins.day_count)
        found += [
            _ranked(seasons, float(share), bins.day_count)
            for seasons, share in zip(within_day, shares, strict=True)
        ]
    return tuple(found)


def _ranked(within_day: list[Period], week_share: float, days: int) -> tuple[Period, ...]:
    """Return what matters of both, strongest first; one peak a week makes no daily season."""
    seasons = [period for period in within_day if period.strength_ratio >= MIN_STRENGTH]
    if week_share >= MIN_WEEK_STRENGTH:
        least = MIN_SHARE_BESIDE_WEEK * week_share
        week = Period(seconds=7 * DAY_SECONDS, strength_ratio=week_share, cycles_seen=days / 7)
        seasons = [*(period for period in seasons if period.strength_ratio >= least), week]
    return tuple(sorted(seasons, key=lambda period: -period.strength_ratio))


def _daily_seasons(lines: Lines, days: int) -> list[list[Period]]:
    energies = _Energies.of(lines.excess)
    is_alone, is_beside = energies.exclusive(), energies.standing_out()
    found: list[list[Period]] = [[] for _ in lines.excess]
    for row in np.flatnonzero((is_alone | is_beside).any(axis=1)):
        peeling = _Peeling(lines, int(row), is_alone=is_alone[row], is_beside=is_beside[row])
        found[row] = [
            Period(
                seconds=DAY_SECONDS // cycles,
                strength_ratio=min(strength, 1.0),
                cycles_seen=days * cycles,
            )
            for cycles, strength in peeling.run().items()
        ]
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Energies:
    """Energy of each candidate's lines, which tells seasons from harmonics."""

    own: FloatArray
    """[W, C, 3]: all lines, all but every second, all but every third of them."""

    beside: FloatArray
    """[W, C, 3, 6]: the same of lines up to three cycles a day beside."""

    whole: FloatArray
    """[W]: all lines of the workload."""

    @classmethod
    def of(cls, excess: FloatArray) -> "_Energies":
        """Add up excess power `[W, K]`."""
        own, beside = _masks(excess.shape[1])
        shape = (len(excess), len(CYCLES_PER_DAY), 3)
        return cls(
            (excess @ own).reshape(shape),
            (excess @ beside).reshape(*shape, len(BESIDE)),
            excess.sum(axis=1),
        )

    def exclusive(self) -> BoolArray:
        """Return where a candidate's lines hold nearly all energy, `[W, C]`."""
        own = self.own[:, :, 0]
        holds_all = (own > 0) & (own >= EXCLUSIVE_SHARE * self.whole[:, None])
        is_own = self.own.min(axis=2) >= OWN_SHARE[True] * own
        return np.asarray(holds_all & is_own, bool)

    def standing_out(self) -> BoolArray:
        """Return where a candidate's lines tower over those beside, `[W, C]`.

        Its own first line must be there: what shines only at every second or third multiple is a
        season half or a third as long.
        """
        own = self.own[:, :, 0]
        towers = (self.own > STAND_OUT_RATIO * self.beside.max(axis=3)).all(axis=2)
        is_short = np.array(CYCLES_PER_DAY) >= STAND_OUT_CYCLES
        is_own = self.own.min(axis=2) >= OWN_SHARE[False] * own
        return np.asarray(is_short & towers & is_own, bool)


@lru_cache
def _masks(line_count: int) -> tuple[FloatArray, FloatArray]:
    """Return 0/1 matrices that add lines up to the energies of `_Energies`, `[K, C * 3 (* 6)]`."""
    own = np.zeros((line_count, len(CYCLES_PER_DAY), 3))
    beside = np.zeros((line_count, len(CYCLES_PER_DAY), 3, len(BESIDE)))
    for index, cycles in enumerate(CYCLES_PER_DAY):
        at = np.arange(cycles, line_count + 1, cycles)
        for part, factor in enumerate((1, 2, 3)):
            kept = at if factor == 1 else at[(at // cycles) % factor > 0]
            own[kept - 1, index, part] = 1
            for side, offset in enumerate(BESIDE):
                near = kept + offset
                near = near[(near >= 1) & (near <= line_count)]
                beside[near - 1, index, part, side] = 1
    return own.reshape(line_count, -1), beside.reshape(line_count, -1)


class _Peeling:
    """Takes the seasons of one workload off its lines, one after the other."""

    def __init__(
        self, lines: Lines, row: int, *, is_alone: BoolArray, is_beside: BoolArray
    ) -> None:
        self._excess = lines.excess[row].copy()
        self._evidence = lines.evidence[row].copy()
        self._band = lines.band[row]
        self._is_alone = is_alone
        self._is_beside = is_beside
        self._strengths: dict[int, float] = {}

    def run(self) -> dict[int, float]:
        """Return strengths by cycles a day: a short season alone, those beside others, the rest."""
        self._take_shortest_alone(CYCLES_PER_DAY[1:])
        for index, cycles in enumerate(CYCLES_PER_DAY):
            if self._is_beside[index] and self._is_season(cycles):
                self._take(cycles)
        self._take_shortest_alone(CYCLES_PER_DAY)
        return self._strengths

    def _take_shortest_alone(self, candidates: tuple[int, ...]) -> None:
        is_alone = dict(zip(CYCLES_PER_DAY, self._is_alone, strict=True))
        for cycles in reversed(candidates):
            if is_alone[cycles] and self._is_season(cycles):
                self._take(cycles)
                return

    def _is_season(self, cycles: int) -> bool:
        """Whether the lines at multiples of `cycles` are beyond noise and strong."""
        own = slice(cycles - 1, None, cycles)
        energy = self._excess[own]
        noise = self._band[own][energy > 0].sum()
        is_strong = energy.sum() >= MIN_BAND_SHARE * (energy.sum() + noise)
        return bool(is_strong) and joint_evidence(self._evidence[own]) >= MIN_EVIDENCE

    def _take(self, cycles: int) -> None:
        own = slice(cycles - 1, None, cycles)
        self._strengths[cycles] = float(self._excess[own].sum())
        self._excess[own] = 0
        self._evidence[own] = 0
        if not self._excess.any():  # the day, mostly: nothing is left to be told apart
            self._is_alone, self._is_beside = np.zeros((2, len(CYCLES_PER_DAY)), bool)
            return
        rest = _Energies.of(self._excess[None])
        self._is_alone, self._is_beside = rest.exclusive()[0], rest.standing_out()[0]
