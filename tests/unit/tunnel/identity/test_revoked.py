from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.tunnel.identity.revoked import RevocationList, Revoked, read_revoked, revoke
from gputide.tunnel.model import Identity


def identity(name: str = "a", *, serial: int = 255, since: float = 100) -> Identity:
    return Identity(
        name=name,
        site="s",
        nodes=("n",),
        serial=serial,
        not_before_seconds=since,
        not_after_seconds=1e9,
    )


def test_a_certificate_is_revoked_by_serial_or_with_all_of_its_agent(tmp_path: Path) -> None:
    found = RevocationList(tmp_path)
    assert not found.refresh()
    assert not found.holds(identity())
    revoke(tmp_path, Revoked(serial="ff", why="lost"))
    revoke(tmp_path, Revoked(agent="b", at_seconds=200))
    assert found.refresh()
    assert not found.refresh()

    assert found.holds(identity())
    assert not found.holds(identity(serial=254))
    assert found.holds(identity("b", serial=1))
    assert not found.holds(identity("b", serial=1, since=201))  # it joined anew since


def test_a_damaged_list_keeps_what_was_known_and_says_so(tmp_path: Path) -> None:
    found = RevocationList(tmp_path)
    revoke(tmp_path, Revoked(serial="ff"))
    found.refresh()
    (tmp_path / "revoked.json").write_text("{")
    assert not found.refresh()
    assert "revoked.json: is damaged" in found.problem
    assert found.holds(identity())
    with pytest.raises(InputError, match="is damaged"):
        read_revoked(tmp_path)
    (tmp_path / "revoked.json").unlink()
    assert found.refresh()
    assert (found.problem, found.holds(identity())) == ("", False)
