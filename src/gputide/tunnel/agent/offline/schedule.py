"""When each target is asked for, and which are overdue. Pure: time is an argument."""

from collections import OrderedDict, deque
from dataclasses import dataclass, field
from statistics import median

from gputide.tunnel.protocol import Scrape

MIN_INTERVAL_SECONDS, MAX_INTERVAL_SECONDS = 1.0, 300.0
REMEMBERED_GAPS = 5
GRACE_SECONDS = 0.5
"""How late an ask may be before the page is fetched unasked: gaps stay at one interval."""

MAX_TARGETS = 20_000


@dataclass(slots=True)
class Learned:
    """One target as gateways ask for it."""

    request: Scrape
    asked_seconds: float
    """When it was last asked for."""

    gaps: deque[float] = field(default_factory=lambda: deque(maxlen=REMEMBERED_GAPS))
    unasked: int = 0
    """Pages fetched since then without being asked."""

    @property
    def interval_seconds(self) -> float | None:
        """Time between asks; None until there were three, for two may be a person's."""
        if len(self.gaps) < 2:
            return None
        return min(max(median(self.gaps), MIN_INTERVAL_SECONDS), MAX_INTERVAL_SECONDS)


def key_of(request: Scrape) -> str:
    """Return what names a target."""
    return f"{request.node}:{request.port}{request.path}?{request.query}"


class Schedule:
    """Targets by key, those asked last at the end; the oldest go beyond the bound."""

    def __init__(self, *, max_offline_seconds: float) -> None:
        self._max_offline_seconds = max_offline_seconds
        self._targets: OrderedDict[str, Learned] = OrderedDict()

    def __len__(self) -> int:
        return len(self._targets)

    def asked(self, request: Scrape, *, now_seconds: float) -> int:
        """Note an ask; return how many pages were fetched unasked since the last one."""
        key = key_of(request)
        found = self._targets.pop(key, None)
        unasked = 0
        if found is None:
            found = Learned(request=request, asked_seconds=now_seconds)
        else:
            gap = now_seconds - found.asked_seconds
            if not found.unasked and gap > 0:  # a gap after an outage says nothing of the interval
                found.gaps.append(gap)
            unasked, found.unasked = found.unasked, 0
            found.request, found.asked_seconds = request, now_seconds
        self._targets[key] = found
        while len(self._targets) > MAX_TARGETS:
            self._targets.popitem(last=False)
        return unasked

    def due(self, *, now_seconds: float) -> list[Scrape]:
        """Return the targets whose next ask is overdue, and count them as fetched unasked."""
        overdue = []
        for key, one in list(self._targets.items()):
            at = self._due_at(one)
            if at is None or now_seconds < at:
                continue
            if now_seconds - one.asked_seconds > self._max_offline_seconds:
                del self._targets[key]  # nobody wants it any more: Prometheus dropped the target
                continue
            interval = one.interval_seconds or MAX_INTERVAL_SECONDS
            # after a pause of our own the pages in between are lost: go on with the next one
            one.unasked = max(one.unasked + 1, int((now_seconds - one.asked_seconds) / interval))
            overdue.append(one.request)
        return overdue

    def next_due_seconds(self) -> float | None:
        """Return when the next target is overdue; None where no interval is known."""
        times = [at for one in self._targets.values() if (at := self._due_at(one)) is not None]
        return min(times, default=None)

    @staticmethod
    def _due_at(one: Learned) -> float | None:
        interval = one.interval_seconds
        if interval is None:
            return None
        return one.asked_seconds + interval * (one.unasked + 1) + GRACE_SECONDS
