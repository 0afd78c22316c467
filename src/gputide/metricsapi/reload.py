"""The rules file, followed: a new one is taken up, a bad one leaves the old rules at work."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Generic, TypeVar

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError, InputError

POLL_SECONDS = 2.0
MAX_BYTES = 4 * 1024 * 1024
log = structlog.stdlib.get_logger()

Rules = TypeVar("Rules")
State = tuple[int, int, int]


class RulesFile(Generic[Rules]):
    """A file and what was made of it; a ConfigMap's symlink swap counts as a change.

    Raises InputError at first where the file cannot be used; afterwards `problem` tells.
    """

    def __init__(self, path: Path, parse: Callable[[str, str], Rules]) -> None:
        """`parse` gets the text and the file's name, and raises GputideError."""
        self._path = path
        self._parse = parse
        self._state = self._stat()
        self.rules = self._read()
        self.problem = ""
        """Why the newest file is not in use."""

        self.reloads = 0
        self.failures = 0

    def poll(self) -> bool:
        """Take up the file where it changed; return whether the rules are new."""
        try:
            state = self._stat()
            if state == self._state:
                return False
            self._state = state  # a bad file is looked at once, not every time
            self.rules = self._read()
        except GputideError as error:
            if str(error) != self.problem:
                self.failures += 1
                log.warning("rules not reloaded, the old ones stay", error=str(error))
            self.problem = str(error)
            return False
        self.problem = ""
        self.reloads += 1
        log.info("rules reloaded", file=str(self._path))
        return True

    async def follow(self, clock: Clock, changed: Callable[[Rules], Awaitable[None]]) -> None:
        """Look at the file every two seconds until cancelled."""
        while True:
            await clock.sleep(POLL_SECONDS)
            if self.poll():
                await changed(self.rules)

    def _stat(self) -> State:
        try:
            found = self._path.stat()
        except OSError as error:
            raise InputError(str(self._path), f"cannot be read: {error.strerror}") from error
        return found.st_mtime_ns, found.st_ino, found.st_size

    def _read(self) -> Rules:
        try:
            with self._path.open("rb") as file:
                body = file.read(MAX_BYTES + 1)
            text = body.decode()
        except OSError as error:
            raise InputError(str(self._path), f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise InputError(str(self._path), "is not UTF-8") from error
        if len(body) > MAX_BYTES:
            raise InputError(str(self._path), f"is larger than {MAX_BYTES} bytes")
        return self._parse(text, str(self._path))
