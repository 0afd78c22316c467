"""Certificates that count no more, as a file that gateways watch."""

from pathlib import Path

import msgspec

from gputide.errors import InputError
from gputide.tunnel.identity.files import read, write_whole
from gputide.tunnel.model import Identity

FILE = "revoked.json"


class Revoked(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One entry: a certificate by serial, or every certificate for a node made until then."""

    serial: str = ""
    """Hexadecimal."""

    agent: str = ""
    at_seconds: float = 0
    why: str = ""


class RevocationList:
    """Reads the file again when it changed; a damaged one keeps what was known."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        self._stamp: tuple[int, int] | None = None
        self._serials: frozenset[str] = frozenset()
        self._agents: dict[str, float] = {}
        self.problem = ""
        """Why the file cannot be used; empty when it can."""

    def refresh(self) -> bool:
        """Read the file if it changed; return whether it did."""
        try:
            found = self._path.stat()
        except FileNotFoundError:
            stamp = None
        else:
            stamp = (found.st_mtime_ns, found.st_ino)
        if stamp == self._stamp:
            return False
        try:
            entries = read_revoked(self._path.parent) if stamp else ()
        except InputError as error:
            self.problem = str(error)
            return False
        self._stamp, self.problem = stamp, ""
        self._serials = frozenset(one.serial for one in entries if one.serial)
        self._agents = {one.agent: one.at_seconds for one in entries if one.agent}
        return True

    def holds(self, identity: Identity) -> bool:
        """Whether a certificate is revoked: itself, or all of its agent made until then."""
        if f"{identity.serial:x}" in self._serials:
            return True
        revoked_at = self._agents.get(identity.name)
        return revoked_at is not None and identity.not_before_seconds <= revoked_at


def read_revoked(directory: Path) -> tuple[Revoked, ...]:
    """Return what is revoked; raise InputError for a damaged file."""
    path = directory / FILE
    if not path.exists():
        return ()
    try:
        return msgspec.json.decode(read(path), type=tuple[Revoked, ...])
    except msgspec.MsgspecError as error:
        raise InputError(str(path), f"is damaged: {error}") from error


def revoke(directory: Path, entry: Revoked) -> None:
    """Add an entry; raises InputError."""
    entries = (*read_revoked(directory), entry)
    write_whole(directory / FILE, msgspec.json.format(msgspec.json.encode(entries)))
