"""What goes into a forecast and what comes out: history, lead, day band, verdict."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from gputide.errors import SettingError
from gputide.quantile import parse_quantile as parse_quantile  # noqa: PLC0414  # re-exported

FloatArray = NDArray[np.float64]
BoolArray = NDArray[np.bool_]

DAY_SECONDS = 86_400
CENSORED_UTILIZATION_RATIO = 0.95
"""Utilization at or above this is a lower bound of the demand, not its value."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class History:
    """Demand of many workloads on one regular grid, newest column last.

    `values[W, T]` is at least 0 and finite, or NaN where unknown. Column 0 lies at `start_local`, a
    naive local time: seasons follow the clock that people live by.
    """

    values: FloatArray
    step_seconds: int
    start_local: datetime
    is_censored: BoolArray | None = None
    """[W, T]: this value is only a lower bound (a saturated GPU); None: nothing is."""

    def __post_init__(self) -> None:
        if self.values.ndim != 2:
            raise SettingError("values", f"must be [workload, time], has {self.values.ndim} axes")
        if self.step_seconds <= 0 or DAY_SECONDS % self.step_seconds:
            raise SettingError("step-seconds", f"{self.step_seconds} does not divide a day")
        if self.start_local.tzinfo is not None:
            raise SettingError("start-local", "must be a local time without a zone")
        if np.isinf(self.values).any() or (self.values < 0).any():
            raise SettingError("values", "must be at least 0 and finite, or NaN where unknown")
        if self.is_censored is not None and self.is_censored.shape != self.values.shape:
            raise SettingError("is-censored", "must have the shape of values")

    @property
    def steps_per_day(self) -> int:
        """Columns in 24 h."""
        return DAY_SECONDS // self.step_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Lead:
    """Which coming steps a lead forecast bounds, counted from the newest known one.

    1 to 5 is the maximum over the next five steps; 60 to 60 the one value an hour (of minutes) on.
    """

    first_step: int
    last_step: int

    def __post_init__(self) -> None:
        if not 1 <= self.first_step <= self.last_step:
            raise SettingError("lead", "must have 1 <= first step <= last step")


class Reason(StrEnum):
    """Why a forecast may be used, or why not; also the condition reason on the resource."""

    IN_USE = "InUse"
    NO_DATA = "NoData"
    TOO_SHORT = "TooShort"
    TOO_MANY_GAPS = "TooManyGaps"
    FLAT = "Flat"
    INTERMITTENT = "Intermittent"
    NO_PERIOD = "NoPeriod"
    PERSISTENCE_IS_BETTER = "PersistenceIsBetter"
    COVERAGE_TOO_LOW = "CoverageTooLow"
    CENSORED = "Censored"
    LEVEL_SHIFT = "LevelShift"


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """What a person should know before trusting one workload's forecast."""

    is_seasonal_in_use: bool
    """Whether the season leads; where not, the level of the last minutes does."""

    reasons: tuple[Reason, ...]
    """`InUse` alone, or everything that speaks against it, gravest first."""

    periods_seconds: tuple[int, ...]
    """Season lengths found, strongest first; empty where there is none."""

    span_seconds: int
    known_ratio: float
    """Share of the minutes that hold a value."""

    coverage_ratio: float | None = None
    """Share of walk-forward minutes at or below the upper quantile."""

    pinball_loss_ratio: float | None = None
    """Walk-forward pinball loss at the quantile, divided by the mean demand."""

    naive_pinball_loss_ratios: Mapping[str, float] = field(default_factory=dict)
    """The same of the naive peers: last day, last week, maximum of days, persistence."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class DayBand:
    """The next 24 h from the end of the history: `median[W, H]`, `upper[W, H]`.

    Never NaN, never negative.
    """

    median: FloatArray
    upper: FloatArray
    quantile: float
    step_seconds: int
    start_local: datetime
    verdicts: tuple[Verdict, ...]
