import sqlite3
import stat
from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.kubeapi.storage.schema import VERSION, opened


def test_the_file_is_made_for_its_owner_alone(tmp_path: Path) -> None:
    connection = opened(tmp_path / "state.db")
    connection.execute("UPDATE counters SET revision = 2")
    modes = {stat.S_IMODE(one.stat().st_mode) for one in tmp_path.iterdir()}
    connection.close()

    assert modes == {0o600}


def test_a_file_that_is_held_by_another_is_refused_with_one_line(tmp_path: Path) -> None:
    first = opened(tmp_path / "state.db")
    with pytest.raises(InputError, match="does another process hold it"):
        opened(tmp_path / "state.db")

    first.close()
    opened(tmp_path / "state.db").close()


def test_a_file_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    connection = opened(tmp_path / "state.db")
    connection.execute(f"PRAGMA user_version = {VERSION + 1}")
    connection.close()

    with pytest.raises(InputError, match=f"has schema version {VERSION + 1}"):
        opened(tmp_path / "state.db")


def test_a_file_of_something_else_is_left_alone(tmp_path: Path) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE mine (a)")
    other.close()
    (tmp_path / "text").write_text("no database at all, and longer than a header" * 40)

    with pytest.raises(InputError, match="a database of something else"):
        opened(tmp_path / "other.db")
    with pytest.raises(InputError, match="is no database"):
        opened(tmp_path / "text")
    with pytest.raises(InputError, match="cannot be opened"):
        opened(tmp_path / "no folder" / "state.db")
