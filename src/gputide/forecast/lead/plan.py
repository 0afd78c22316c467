"""What a lead forecast looks at, in columns of one grid: windows, lags, candidates."""

from dataclasses import dataclass

from gputide.errors import SettingError
from gputide.forecast.model import DAY_SECONDS, Lead

JITTER_SECONDS = (0, 600, 1800)
"""How far the same hour of another day may be off: a jump that comes ten minutes early."""

PERSISTENCE_SECONDS = (60, 300, 900, 3600)
LEVEL_SECONDS = 1200
HOUR_SECONDS = 3600
CALIBRATION_DAYS = 7
WEEK_DAYS = 7


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
    def target_steps(self) -> int:
        """Columns whose maximum is forecast."""
        return self.lead.last_step - self.lead.first_step + 1

    @property
    def jitters(self) -> tuple[int, ...]:
        """Margins of the seasonal envelopes, each once."""
        return self._distinct(JITTER_SECONDS, least=0)

    @property
    def persistence_steps(self) -> tuple[int, ...]:
        """Widths of the windows whose maximum may simply persist."""
        return self._distinct(PERSISTENCE_SECONDS, least=1)

    @property
    def level_steps(self) -> int:
        """Width of the window that tells the level of now."""
        return max(1, round(LEVEL_SECONDS / self.step_seconds))

    @property
    def hour_steps(self) -> int:
        """Columns in an hour, at least one."""
        return max(1, round(HOUR_SECONDS / self.step_seconds))

    @property
    def hour_lags(self) -> tuple[int, ...]:
        """Lags of the last four hours whose part under the lead is known already."""
        first = -(-self.lead.last_step // self.hour_steps)
        return tuple(k * self.hour_steps for k in range(first, first + 4))

    @property
    def stride(self) -> int:
        """Columns from one calibration origin to the next: 5 min, or every column of a coarser grid."""
        return max(1, self.day_steps // 288)

    @property
    def needed_steps(self) -> int:
        """Newest columns that an issue reads."""
        hours = self.hour_lags[-1] - self.lead.last_step + self.target_steps
        return max(hours, self.level_steps, *self.persistence_steps)

    def _distinct(self, seconds: tuple[int, ...], *, least: int) -> tuple[int, ...]:
        return tuple(sorted({max(least, round(s / self.step_seconds)) for s in seconds}))
