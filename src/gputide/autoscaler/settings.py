"""What a person sets for the controller."""

from dataclasses import dataclass

from gputide.errors import SettingError

MAX_HISTORY_DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How the engine reads and remembers."""

    history_days: int = 7
    """Days of demand kept by the minute; 14 know weekends, and take twice the memory."""

    max_sample_age_seconds: float = 90.0
    """Demand from older samples is not used."""

    rate_window_seconds: int = 120
    """Window of rates in queries."""

    def __post_init__(self) -> None:
        if not 1 <= self.history_days <= MAX_HISTORY_DAYS:
            raise SettingError("history-days", f"must be 1 to {MAX_HISTORY_DAYS}")
        if not 5 <= self.max_sample_age_seconds <= 600:
            raise SettingError("max-sample-age", "must be 5 to 600 seconds")
        if not 15 <= self.rate_window_seconds <= 3600:
            raise SettingError("rate-window", "must be 15 to 3600 seconds")

    @property
    def history_minutes(self) -> int:
        """Minutes kept."""
        return self.history_days * 1440
