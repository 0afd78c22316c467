"""The engine's state on disk: whole or not at all, and ignored where it is damaged."""

import os
import struct
import zlib
from collections.abc import Mapping
from pathlib import Path
from tempfile import NamedTemporaryFile
from zipfile import BadZipFile

import numpy as np
import structlog

from gputide.autoscaler.model import FloatArray
from gputide.errors import SettingError

log = structlog.stdlib.get_logger()

FILE, VERSION = "autoscaler-state.npz", 1
SavedState = Mapping[str, FloatArray | list[str]]

DAMAGES = (
    *(OSError, EOFError, ValueError, KeyError, TypeError, RuntimeError),
    *(MemoryError, BadZipFile, zlib.error, struct.error),
)
"""What zipfile and numpy raise for bytes that are wrong: a length, a flag, a version, a type."""


class Checkpoint:
    """One file in a directory."""

    def __init__(self, directory: Path) -> None:
        self._path = directory / FILE
        try:
            directory.mkdir(parents=True, exist_ok=True, mode=0o700)
        except OSError as error:
            raise SettingError("state-dir", f"{directory}: {error.strerror}") from error

    def write(self, state: SavedState) -> None:
        """Replace the file; a full disk leaves the old one, and is told."""
        arrays = {name: np.asarray(value) for name, value in state.items()}
        try:
            with NamedTemporaryFile(dir=self._path.parent, delete=False) as file:
                made = Path(file.name)
                try:
                    np.savez(file, version=np.array(VERSION), **arrays)  # type: ignore[arg-type]  # numpy's stub knows no mapping of arrays
                    file.flush()
                    os.fsync(file.fileno())
                    made.replace(self._path)
                except BaseException:
                    made.unlink(missing_ok=True)
                    raise
        except OSError as error:
            log.warning("state not saved", file=str(self._path), error=str(error))

    def read(self) -> SavedState | None:
        """Return the state; None where there is none, or none that can be used."""
        if not self._path.exists():
            return None
        try:
            # opened here, for numpy leaves a damaged file open
            with self._path.open("rb") as file, np.load(file, allow_pickle=False) as found:
                state = {name: found[name] for name in found.files}
            if int(state.pop("version")) != VERSION:
                log.warning("saved state is of another version", file=str(self._path))
                return None
            names = {name: [str(one) for one in state.pop(name)] for name in ("keys", "uids")}
        except DAMAGES as error:
            log.warning("saved state is not used", file=str(self._path), why=str(error))
            return None
        return {**state, **names}
