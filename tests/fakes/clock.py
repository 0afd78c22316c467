"""A clock that a test turns by hand; sleeping moves it and takes no time."""


class FakeClock:
    """Unix and monotonic time are the same number; `slept` holds each pause that was asked for."""

    def __init__(self, now_seconds: float = 1_772_409_600.0) -> None:
        self.seconds = now_seconds
        self.slept: list[float] = []

    def now_seconds(self) -> float:
        """Return the time as it is set."""
        return self.seconds

    def monotonic_seconds(self) -> float:
        """Return the time as it is set."""
        return self.seconds

    async def sleep(self, seconds: float) -> None:
        """Move on at once."""
        self.slept.append(seconds)
        self.seconds += seconds
