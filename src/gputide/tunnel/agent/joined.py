"""What an agent remembers of its joining: the gateways and nodes it was given."""

from pathlib import Path

import msgspec

from gputide.errors import InputError
from gputide.tunnel.identity.files import read, write_whole

FILE = "joined.json"


class Joined(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Used where the settings name none."""

    gateways: tuple[str, ...]
    nodes: tuple[str, ...]
    """As given: NAME=ADDRESS or NAME."""


def save_joined(directory: Path, joined: Joined) -> None:
    """Keep it; raises InputError."""
    write_whole(directory / FILE, msgspec.json.format(msgspec.json.encode(joined)))


def read_joined(directory: Path) -> Joined | None:
    """Return it; None where this agent has not joined by the command."""
    path = directory / FILE
    if not path.exists():
        return None
    try:
        return msgspec.json.decode(read(path), type=Joined)
    except msgspec.MsgspecError as error:
        raise InputError(str(path), f"is damaged: {error}") from error
