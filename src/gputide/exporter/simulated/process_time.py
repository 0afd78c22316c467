"""How long processes of this machine have worked, from /proc: their CPU time stands for a GPU's."""

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from gputide.exporter.simulated.load import Lane

PROC = Path("/proc")


class ProcessTime:
    """A BusyTime: groups of processes, each group the work of one GPU."""

    def __init__(self, groups: Sequence[Sequence[int]], *, proc: Path = PROC) -> None:
        self._groups = groups
        self._proc = proc
        self._ticks_per_second = os.sysconf("SC_CLK_TCK")

    def busy_seconds(self, lane: Lane) -> float:
        """Return the CPU time of the GPU's processes that are alive."""
        if lane.device_index >= len(self._groups):
            return 0.0
        return self._sum(self._groups[lane.device_index])

    def _sum(self, pids: Iterable[int]) -> float:
        return sum(map(self._ticks, pids)) / self._ticks_per_second

    def _ticks(self, pid: int) -> int:
        """Return user and system time in clock ticks, 0 where the process has ended."""
        try:
            stat = (self._proc / str(pid) / "stat").read_bytes()
        except (FileNotFoundError, ProcessLookupError, PermissionError):
            return 0
        # The name in parentheses may hold anything; utime and stime are 12 and 13 fields after it.
        fields = stat.rpartition(b")")[2].split()
        return int(fields[11]) + int(fields[12])
