"""XID events, counted by GPU and code. Pure."""

from dataclasses import replace

from gputide.exporter.model import XidCount

MAX_CODES = 64
"""Codes kept of one GPU; the driver documents fewer than 200, and a GPU meets a few of them."""

MAX_GPUS = 256


class XidLedger:
    """Counts XID events; one thread adds, any thread looks."""

    def __init__(self) -> None:
        self._by_uuid: dict[str, tuple[XidCount, ...]] = {}

    def add(self, uuid: str, xid: int, *, now_seconds: float) -> bool:
        """Count an event; return False where the ledger has no room for another code or GPU."""
        counts = {each.xid: each for each in self._by_uuid.get(uuid, ())}
        is_new = xid not in counts
        if is_new and (len(counts) >= MAX_CODES or self._is_full(uuid)):
            return False
        before = counts.get(xid, XidCount(xid=xid, count=0, last_seen_seconds=now_seconds))
        counts[xid] = replace(before, count=before.count + 1, last_seen_seconds=now_seconds)
        self._by_uuid[uuid] = tuple(counts[code] for code in sorted(counts))
        return True

    def of(self, uuid: str) -> tuple[XidCount, ...]:
        """Return the counts of one GPU, by code."""
        return self._by_uuid.get(uuid, ())

    def _is_full(self, uuid: str) -> bool:
        return uuid not in self._by_uuid and len(self._by_uuid) >= MAX_GPUS
