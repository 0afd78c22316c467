"""Time as a port: shells take a `Clock`, tests turn one by hand."""

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """The time of this machine, and waiting on it."""

    def now_seconds(self) -> float:
        """Return the Unix time in seconds."""

    def monotonic_seconds(self) -> float:
        """Return seconds that never run backwards; only differences mean anything."""

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""


class SystemClock:
    """The real one."""

    def now_seconds(self) -> float:
        """Return the Unix time in seconds."""
        return time.time()  # noqa: TID251 the one place that may

    def monotonic_seconds(self) -> float:
        """Return seconds that never run backwards; only differences mean anything."""
        return time.monotonic()

    async def sleep(self, seconds: float) -> None:
        """Wait that long."""
        await asyncio.sleep(seconds)  # noqa: TID251 the one place that may


def utc_from_unix(seconds: float) -> datetime:
    """Return the UTC instant of a Unix time."""
    return datetime.fromtimestamp(seconds, tz=UTC)
