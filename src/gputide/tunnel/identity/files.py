"""Files with secrets: made at mode 0600, replaced whole or not at all."""

import os
from pathlib import Path
from tempfile import NamedTemporaryFile

from gputide.errors import InputError

SECRET_MODE = 0o600
PUBLIC_MODE = 0o644


def write_whole(path: Path, data: bytes, *, mode: int = SECRET_MODE) -> None:
    """Replace a file by a complete new one, or leave the old one; raise InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
            made = Path(file.name)
            try:
                os.fchmod(file.fileno(), mode)
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
                made.replace(path)
            except BaseException:
                made.unlink(missing_ok=True)
                raise
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror}") from error


def create_new(path: Path, data: bytes, *, mode: int = SECRET_MODE) -> bool:
    """Create a file; False where it exists already (somebody was faster); raise InputError."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        except FileExistsError:
            return False
    except OSError as error:
        raise InputError(str(path), f"cannot be written: {error.strerror}") from error
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    return True


def read(path: Path) -> bytes:
    """Return a file's bytes, or raise InputError that names it."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error


def read_secret(path: Path) -> bytes:
    """Return a secret's bytes; raise InputError also where others may read the file."""
    data = read(path)
    mode = path.stat().st_mode & 0o777
    if mode & 0o077:
        raise InputError(str(path), f"has mode {mode:04o}: others may read it; chmod 600 {path}")
    return data
