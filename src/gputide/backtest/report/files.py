"""Reports on a disk: whole, or not at all."""

import os
from pathlib import Path

from gputide.errors import InputError


def check_writable(path: Path) -> None:
    """Raise InputError where a file could not be written there; before hours of work, not after."""
    if path.is_dir():
        raise InputError(str(path), "is a directory; name the file to write")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(str(path), f"cannot be written: no such folder {folder}")
    if not os.access(path if path.exists() else folder, os.W_OK):
        raise InputError(str(path), "cannot be written: permission denied")


def write_whole(path: Path, text: str) -> None:
    """Write UTF-8 text in one step: readers see the old file or the new one, never a part.

    What is no file of its own (a pipe, a terminal, /dev/stdout whatever it leads to) is written
    straight, after what is there.
    """
    check_writable(path)
    try:
        if path.is_relative_to("/dev") or (path.exists() and not path.is_file()):
            with path.open("a", encoding="utf-8") as file:
                file.write(text)
            return
        _replace(path.resolve(), text)  # a link keeps pointing where it points
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror or error}") from error


def _replace(target: Path, text: str) -> None:
    unfinished = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with unfinished.open("x", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(target)
    finally:
        unfinished.unlink(missing_ok=True)
