"""What a lead forecast looks at, in columns of one grid: lags, windows, origins."""

from dataclasses import dataclass

from gputide.errors import SettingError
from gputide.forecast.model import DAY_SECONDS, Lead

CALIBRATION_DAYS = 7
"""Trailing days on which candidates are judged."""

WEEK_DAYS = 7
"""Days that each of them looks back on."""

ORIGIN_STRIDES = (1, 2, 4, 4, 4, 8, 8)
"""How much sparser a day's origins get with its age: the younger the day, the more it counts."""

ORIGIN_SECONDS = 240
PERSISTENCE_SECONDS = (60, 300, 900, 3600)
"""Windows whose maximum may simply persist."""

LEVEL_SECONDS = 1200
"""Window that tells the level of now."""

HOUR_SECONDS = 3600
RECENT_SECONDS = 3 * 3600
RECENT_STRIDE_SECONDS = 660
"""No divisor of an hour, so that a load with a beat of minutes is met at all its phases."""
RECENT_HALF_LIFE_SECONDS = 3600


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """The windows of a lead forecast in columns, for one step and one lead."""

    step_seconds: int
    lead: Lead

    def __post_init__(self) -> None:
        if self.lead.last_step > self.day_steps:
            raise SettingError("lead", f"must end within a day, {self.day_steps} steps")

    @property
    def day_steps(self) -> int:
        """Columns in 24 h."""
        return DAY_SECONDS // self.step_seconds

    @property
    def window_steps(self) -> int:
        """Columns that a fit looks back on; older ones change nothing."""
        return (CALIBRATION_DAYS + WEEK_DAYS) * self.day_steps

    @property
    def target_steps(self) -> int:
        """Columns whose maximum is forecast."""
        return self.lead.last_step - self.lead.first_step + 1

    @property
    def persistence_steps(self) -> tuple[int, ...]:
        """Widths of the windows whose maximum may persist, ascending."""
        return tuple(self.steps(seconds) for seconds in PERSISTENCE_SECONDS)

    @property
    def persistence_count(self) -> int:
        """Candidates of the newest minutes: those maxima, and two of the last hours."""
        return len(PERSISTENCE_SECONDS) + 2

    @property
    def level_steps(self) -> int:
        """Width of the window that tells the level of now."""
        return self.steps(LEVEL_SECONDS)

    @property
    def hour_lags(self) -> tuple[int, ...]:
        """Lags of the last four hours whose part under the lead is known already."""
        hour = self.steps(HOUR_SECONDS)
        first = -(-self.lead.last_step // hour)
        return tuple(k * hour for k in range(first, first + 4))

    @property
    def live_steps(self) -> int:
        """Columns that the newest minutes' candidates look back on from one origin."""
        hours = self.hour_lags[-1] - self.lead.last_step + self.target_steps
        return max(hours, self.level_steps, self.persistence_steps[-1])

    @property
    def recent_origins(self) -> tuple[int, ...]:
        """How many columns ago the origins lie whose outcome is known now, newest first."""
        stride = self.steps(RECENT_STRIDE_SECONDS)
        count = max(1, RECENT_SECONDS // (stride * self.step_seconds))
        return tuple(self.lead.last_step + k * stride for k in range(count))

    @property
    def recent_weights(self) -> tuple[float, ...]:
        """What each of them counts; the sum is 1."""
        newest = self.lead.last_step
        ages = [(ago - newest) * self.step_seconds for ago in self.recent_origins]
        weights = [0.5 ** (age / RECENT_HALF_LIFE_SECONDS) for age in ages]
        return tuple(weight / sum(weights) for weight in weights)

    @property
    def lookback_phases(self) -> int:
        """Phases before the fit at which recent origins may lie."""
        return min(self.recent_origins[-1], self.day_steps)

    @property
    def needed_steps(self) -> int:
        """Newest columns that an issue reads."""
        return self.live_steps + self.recent_origins[-1]

    @property
    def origins(self) -> tuple[slice, ...]:
        """The phases at which each trailing day is judged, the newest day first."""
        every = self.steps(ORIGIN_SECONDS)
        # An offset that moves from day to day: demand sampled every five minutes must not always be
        # met at the same age.
        return tuple(
            slice(age % every, None, every * stride) for age, stride in enumerate(ORIGIN_STRIDES)
        )

    def steps(self, seconds: int) -> int:
        """Return a span in columns, at least one."""
        return max(1, round(seconds / self.step_seconds))
