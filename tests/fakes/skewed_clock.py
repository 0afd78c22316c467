"""Clocks of several machines, none of them right: own zeros, own speeds, one true time."""

import asyncio
from dataclasses import dataclass, field


@dataclass
class World:
    """True time, which no clock shows exactly."""

    seconds: float = 0.0


@dataclass
class SkewedClock:
    """A machine's clock: its own zero, its own speed, and a calendar that may be years off."""

    world: World
    offset_seconds: float = 0.0
    rate: float = 1.0
    now_offset_seconds: float = 1_790_000_000.0
    asleep: asyncio.Event = field(default_factory=asyncio.Event)

    def monotonic_seconds(self) -> float:
        """Return seconds since this machine's own zero."""
        return self.offset_seconds + self.world.seconds * self.rate

    def now_seconds(self) -> float:
        """Return what this machine takes for the Unix time."""
        return self.world.seconds + self.now_offset_seconds

    async def sleep(self, seconds: float) -> None:
        """Move the true time on at once."""
        self.world.seconds += seconds / self.rate
        self.asleep.set()
