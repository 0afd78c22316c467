import stat
from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.tunnel.identity.files import create_new, read, read_secret, write_whole


def test_a_secret_is_written_whole_and_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "deep" / "key"
    write_whole(path, b"one")
    write_whole(path, b"two")

    assert read_secret(path) == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["key"]


def test_a_secret_that_others_may_read_is_refused_with_the_remedy(tmp_path: Path) -> None:
    path = tmp_path / "key"
    path.write_bytes(b"secret")
    path.chmod(0o640)
    with pytest.raises(InputError, match=r"has mode 0640: others may read it; chmod 600 .*key"):
        read_secret(path)


def test_only_the_first_creates_a_file(tmp_path: Path) -> None:
    path = tmp_path / "used"
    assert create_new(path, b"first")
    assert not create_new(path, b"second")
    assert read(path) == b"first"


def test_what_cannot_be_read_or_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(InputError, match="nothing: cannot be read: No such file"):
        read(tmp_path / "nothing")
    with pytest.raises(
        InputError, match=r"file/key: cannot be written: (Not a directory|File exi)"
    ):
        write_whole(tmp_path / "file" / "key", b"")
    with pytest.raises(InputError, match="cannot be written"):
        create_new(tmp_path / "file" / "key", b"")
