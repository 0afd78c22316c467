"""How often is read, and how long is waited. Pure."""

from dataclasses import dataclass

from gputide.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class CollectionSettings:
    """Intervals and deadlines of the background collection."""

    interval_seconds: float = 5
    """Between the readings of one GPU, and between looks at the owners."""

    enumerate_seconds: float = 30
    """Between looks for GPUs that came or went."""

    deadline_seconds: float = 10
    """A driver call that takes longer counts as hung, and so does a look at the owners."""

    max_age_seconds: float = 60
    """An older reading is not served."""

    def __post_init__(self) -> None:
        for name in ("interval", "enumerate", "deadline", "max_age"):
            if not 0 < getattr(self, f"{name}_seconds") < float("inf"):
                raise SettingError(f"{name.replace('_', '-')}-seconds", "must be above 0")
        if self.max_age_seconds < self.interval_seconds:
            raise SettingError(
                "max-age-seconds", f"is under the interval of {self.interval_seconds:g} s"
            )
