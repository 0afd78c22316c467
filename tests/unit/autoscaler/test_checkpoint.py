import random
import stat
from pathlib import Path

import numpy as np
import pytest
from structlog.testing import capture_logs

from fakes.autoscalers import NOW, FakeDemand, subject
from gputide.autoscaler.checkpoint import Checkpoint
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.errors import SettingError


async def test_state_comes_back_as_it_was(tmp_path: Path) -> None:
    source = FakeDemand()
    engine, one = AutoscalerEngine(source), subject()
    source.use(0.8, one)
    await engine.round([one], now_seconds=NOW)
    checkpoint = Checkpoint(tmp_path)
    checkpoint.write(engine.save())
    state = checkpoint.read()

    assert state is not None
    assert state["keys"] == ["default/web"]
    for name, value in engine.save().items():
        np.testing.assert_array_equal(np.asarray(state[name]), np.asarray(value))
    file = tmp_path / "autoscaler-state.npz"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.parametrize("content", [b"", b"noise", b"PK\x03\x04cut off"])
def test_a_damaged_file_is_named_and_not_used(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "autoscaler-state.npz").write_bytes(content)
    with capture_logs() as logs:
        assert Checkpoint(tmp_path).read() is None
    assert logs[0]["event"] == "saved state is not used"


def test_whatever_bytes_are_wrong_nothing_else_fails(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.write({"keys": ["a/b"] * 3, "uids": ["u"] * 3, "highest": np.zeros((2, 3))})
    file = tmp_path / "autoscaler-state.npz"
    good, chance = file.read_bytes(), random.Random(1)
    for _ in range(1500):
        noise = bytearray(good)
        for _ in range(chance.randrange(1, 4)):
            noise[chance.randrange(len(noise))] = chance.randrange(256)
        file.write_bytes(noise)
        with capture_logs():
            checkpoint.read()


def test_state_of_another_version_is_not_used(tmp_path: Path) -> None:
    np.savez(tmp_path / "autoscaler-state.npz", version=np.array(99))
    assert Checkpoint(tmp_path).read() is None


def test_without_a_file_there_is_no_state(tmp_path: Path) -> None:
    assert Checkpoint(tmp_path / "new").read() is None


def test_a_directory_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(SettingError, match=r"state-dir: .*file/state: Not a directory"):
        Checkpoint(tmp_path / "file" / "state")


def test_a_write_that_fails_leaves_the_old_file(tmp_path: Path) -> None:
    checkpoint = Checkpoint(tmp_path)
    checkpoint.write({"keys": ["a"], "uids": ["b"]})
    (tmp_path / "autoscaler-state.npz").rename(tmp_path / "kept")
    (tmp_path / "autoscaler-state.npz").mkdir()
    with capture_logs() as logs:
        checkpoint.write({"keys": ["c"], "uids": ["d"]})
    assert logs[0]["event"] == "state not saved"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["autoscaler-state.npz", "kept"]
