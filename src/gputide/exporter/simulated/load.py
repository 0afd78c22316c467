"""How busy simulated GPUs are: sources of load, functions of time and seed."""

import math
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Protocol

from gputide.errors import InputError, SettingError

DAY_SECONDS = 86_400.0
LOW_RATIO, HIGH_RATIO = 0.08, 0.9
_MASK = 2**64 - 1


@dataclass(frozen=True, slots=True)
class Lane:
    """What has a load of its own: one tenant of one GPU."""

    device_index: int
    tenant: int = 0


class Load(Protocol):
    """Says how busy a tenant keeps its GPU, or its MIG instance."""

    def busy_ratio(self, lane: Lane, at_seconds: float) -> float:
        """Return the share of time it is busy around that Unix time, 0 to 1."""


def noise(seed: int, *keys: int) -> float:
    """Return a number in [0, 1) that looks random and follows from seed and keys alone."""
    mixed = seed & _MASK
    for key in keys:  # splitmix64
        mixed = (mixed + (key + 1) * 0x9E3779B97F4A7C15) & _MASK
        mixed = ((mixed ^ (mixed >> 30)) * 0xBF58476D1CE4E5B9) & _MASK
        mixed = ((mixed ^ (mixed >> 27)) * 0x94D049BB133111EB) & _MASK
        mixed ^= mixed >> 31
    return mixed / 2**64


@dataclass(frozen=True, slots=True)
class ConstantLoad:
    """The same all the time."""

    ratio: float

    def busy_ratio(self, lane: Lane, at_seconds: float) -> float:  # noqa: ARG002 the port's
        """Return it."""
        return self.ratio


@dataclass(frozen=True, slots=True, kw_only=True)
class DailyTide:
    """Rises and falls once a day, with unrest of minutes on top."""

    low_ratio: float = LOW_RATIO
    high_ratio: float = HIGH_RATIO
    peak_seconds: float = 14 * 3600
    """After midnight UTC."""

    unrest_ratio: float = 0.12
    unrest_seconds: float = 120
    seed: int = 0

    def busy_ratio(self, lane: Lane, at_seconds: float) -> float:
        """Return the tide of the time of day, up to half an hour apart between lanes."""
        spread = (noise(self.seed, lane.device_index, lane.tenant) - 0.5) * 3600
        angle = 2 * math.pi * (at_seconds - self.peak_seconds - spread) / DAY_SECONDS
        tide = self.low_ratio + (self.high_ratio - self.low_ratio) * (1 + math.cos(angle)) / 2
        step, part = divmod(at_seconds / self.unrest_seconds, 1)
        before = noise(self.seed, lane.device_index, lane.tenant, int(step))
        after = noise(self.seed, lane.device_index, lane.tenant, int(step) + 1)
        unrest = before + (after - before) * part - 0.5
        return min(max(tide * (1 + 2 * self.unrest_ratio * unrest), 0.0), 1.0)


@dataclass(frozen=True, slots=True)
class RecordedLoad:
    """Plays rows of ratios, interpolated, over and over; the first row is at `start_seconds`."""

    offsets_seconds: tuple[float, ...]
    """Rising."""

    rows: tuple[tuple[float, ...], ...]
    """One ratio for all GPUs, or one a GPU (repeated where there are more GPUs)."""

    start_seconds: float = 0

    def busy_ratio(self, lane: Lane, at_seconds: float) -> float:
        """Return the ratio recorded for that GPU at that time of the recording."""
        first, last = self.offsets_seconds[0], self.offsets_seconds[-1]
        column = lane.device_index % len(self.rows[0])
        if last == first:
            return self.rows[0][column]
        at = first + (at_seconds - self.start_seconds) % (last - first)
        after = bisect_right(self.offsets_seconds, at)
        begin, end = self.offsets_seconds[after - 1 : after + 1]
        low, high = self.rows[after - 1][column], self.rows[after][column]
        return low + (high - low) * (at - begin) / (end - begin)


def read_load(text: str, *, source: str, start_seconds: float = 0) -> RecordedLoad:
    """Return the load that a CSV holds: `offset_seconds,ratio[,ratio of the next GPU ...]`.

    A first line without numbers is a heading. Raise InputError with the line at fault.
    """
    offsets: list[float] = []
    rows: list[tuple[float, ...]] = []
    for number, line in enumerate(text.splitlines(), start=1):
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        numbers = _numbers(line)
        if numbers is None and not rows and number == 1:
            continue
        problem = _problem(numbers, offsets, rows)
        if numbers is None or problem:
            raise InputError(f"{source}:{number}", f"{problem}: {line.strip()[:80]!r}")
        offsets.append(numbers[0])
        rows.append(tuple(numbers[1:]))
    if not rows:
        raise InputError(source, "no row of `offset_seconds,ratio`")
    return RecordedLoad(tuple(offsets), tuple(rows), start_seconds)


def _numbers(line: str) -> list[float] | None:
    try:
        return [float(part) for part in line.split(",")]
    except ValueError:
        return None


def _problem(
    numbers: Sequence[float] | None,
    offsets: Sequence[float],
    rows: Sequence[tuple[float, ...]],
) -> str:
    """Return what is wrong with a row, empty where nothing is."""
    if numbers is None:
        return "not numbers"
    if len(numbers) < 2 or (rows and len(numbers) != 1 + len(rows[0])):
        return f"{len(numbers)} fields, not {1 + len(rows[0]) if rows else 'two or more'}"
    if not all(map(math.isfinite, numbers)) or (offsets and numbers[0] <= offsets[-1]):
        return "the offset does not rise"
    if not all(0 <= ratio <= 1 for ratio in numbers[1:]):
        return "a ratio is not between 0 and 1"
    return ""


class BusyTime(Protocol):
    """Processes of this machine whose work stands for a GPU's."""

    def busy_seconds(self, lane: Lane) -> float:
        """Return how long they have worked in all; it falls where one has ended."""


class LiveLoad:
    """The busy time of living processes, as its growth between two looks."""

    def __init__(self, busy_time: BusyTime, *, window_seconds: float = 1) -> None:
        self._busy_time = busy_time
        self._window_seconds = window_seconds
        self._looks: dict[Lane, tuple[float, float, float]] = {}

    def busy_ratio(self, lane: Lane, at_seconds: float) -> float:
        """Return the share since the look before, which lies a window back at least."""
        before_seconds, before_busy, ratio = self._looks.get(lane, (-math.inf, 0.0, 0.0))
        if at_seconds - before_seconds < self._window_seconds:
            return ratio
        busy = self._busy_time.busy_seconds(lane)
        grown = max(busy - before_busy, 0.0)
        ratio = min(grown / (at_seconds - before_seconds), 1.0)  # 0 at the first look
        self._looks[lane] = (at_seconds, busy, ratio)
        return ratio


def parse_load(
    text: str,
    *,
    read_text: Callable[[str], str],
    busy_time_of: Callable[[Sequence[Sequence[int]]], BusyTime] | None = None,
    start_seconds: float = 0,
    seed: int = 0,
    setting: str = "simulate-load",
) -> Load:
    """Return the load that a text asks for.

    A ratio, `tide`, `tide:LOW-HIGH`, `file:PATH`, or `processes:PID+PID,PID`, which are the
    processes of GPU 0 and of GPU 1. `read_text` returns a file's content, `busy_time_of` looks at
    processes. Raise SettingError or InputError.
    """
    kind, _, rest = text.strip().partition(":")
    if kind == "file" and rest:
        return read_load(read_text(rest), source=rest, start_seconds=start_seconds)
    if kind == "processes" and busy_time_of is not None and (groups := _pids(rest)):
        return LiveLoad(busy_time_of(groups))
    if kind == "tide":
        bounds = _ratios(rest.split("-")) if rest else (LOW_RATIO, HIGH_RATIO)
        if bounds is not None and len(bounds) == 2 and bounds[0] <= bounds[1]:
            return DailyTide(low_ratio=bounds[0], high_ratio=bounds[1], seed=seed)
    elif (ratios := _ratios([rest if kind == "constant" else text])) is not None:
        return ConstantLoad(ratios[0])
    raise SettingError(
        setting,
        f"{text!r} is not a ratio of 0 to 1, tide, tide:LOW-HIGH, file:PATH or"
        " processes:PID[+PID][,PID]",
    )


def _pids(text: str) -> tuple[tuple[int, ...], ...]:
    """Return the processes by GPU, nothing where the text is none."""
    groups = [group.split("+") for group in text.split(",")]
    if not all(pid.isdecimal() and pid.isascii() for group in groups for pid in group):
        return ()
    return tuple(tuple(map(int, group)) for group in groups)


def _ratios(parts: Sequence[str]) -> tuple[float, ...] | None:
    numbers = _numbers(",".join(parts))
    if numbers is None or not all(0 <= each <= 1 for each in numbers):
        return None
    return tuple(numbers)
