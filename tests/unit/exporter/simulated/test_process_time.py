import os
from pathlib import Path

import pytest

from gputide.exporter.simulated.load import Lane
from gputide.exporter.simulated.process_time import ProcessTime


def add_process(proc: Path, pid: int, name: str, user: int, system: int) -> None:
    (proc / str(pid)).mkdir()
    fields = ["S", *["0"] * 10, str(user), str(system), *["0"] * 30]
    (proc / str(pid) / "stat").write_text(f"{pid} ({name}) {' '.join(fields)}\n")


def test_the_living_processes_of_a_gpu_are_added_up(tmp_path: Path) -> None:
    ticks = os.sysconf("SC_CLK_TCK")
    add_process(tmp_path, 1, "python3", 3 * ticks, ticks)
    add_process(tmp_path, 2, "a) R 9 (b", 2 * ticks, 0)
    add_process(tmp_path, 3, "other", 100 * ticks, 0)
    busy = ProcessTime([(1, 2, 99), (3,)], proc=tmp_path)

    assert busy.busy_seconds(Lane(0)) == pytest.approx(6)
    assert busy.busy_seconds(Lane(1)) == pytest.approx(100)
    assert busy.busy_seconds(Lane(2)) == 0


def test_this_very_process_has_worked() -> None:
    assert ProcessTime([(os.getpid(),)]).busy_seconds(Lane(0)) > 0
