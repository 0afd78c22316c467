from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.exporter.simulated.faults import (
    NO_FAULTS,
    FaultFile,
    FaultSwitch,
    GpuFaults,
    parse_faults,
)


def test_a_switch_hurts_one_gpu_and_mends_it() -> None:
    faults = FaultSwitch()
    faults.set(3, GpuFaults(lost=True))
    assert (faults.of(3), faults.of(2)) == (GpuFaults(lost=True), NO_FAULTS)

    faults.clear(3)

    assert faults.of(3) == NO_FAULTS


def test_a_file_is_read_again_when_it_changes(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    faults = FaultFile(path)
    assert faults.of(0) == NO_FAULTS

    path.write_text('{"0": {"xid": 79}, "*": {"slow_seconds": 2}}')
    assert faults.of(0) == GpuFaults(xid=79)
    assert faults.of(1) == GpuFaults(slow_seconds=2)

    path.unlink()
    assert faults.of(0) == NO_FAULTS


def test_a_file_spoilt_while_running_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text('{"0": {"hang": true}}')
    faults = FaultFile(path)
    path.write_text('{"0": {"hang": ')

    assert faults.of(0) == faults.of(0) == GpuFaults(hang=True)


def test_a_spoilt_file_is_refused_at_the_start(tmp_path: Path) -> None:
    path = tmp_path / "faults.json"
    path.write_text("[]")

    with pytest.raises(InputError, match=r"faults\.json"):
        FaultFile(path)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("{", "truncated"),
        ('{"0": {"lots": true}}', "lots"),
        ('{"0": {"slow_seconds": -1}}', "slow_seconds"),
        ('{"0": {"lost": 1}}', "lost"),
        ('{"gpu0": {}}', "'gpu0' is neither"),
        ('{"\udcff": {}}', "[Ii]nvalid"),
    ],
)
def test_what_is_no_fault_is_named(text: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem):
        parse_faults(text.encode(errors="surrogateescape"), source="faults.json")
