"""Programs that a test starts and ends, each with its log in a file.

with Programs(folder) as programs:
    one = programs.start("etcd", ["etcd", "--data-dir", ...])
    programs.wait_until("etcd is ready", lambda: answers(url), one)

They end by their process id, the newest first, also when the test fails; and with the test process
should that be killed. A wait that runs out of time, or a program that ends meanwhile, raises with
the last lines of the log.
"""

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

START_TIMEOUT_SECONDS = 120
STOP_TIMEOUT_SECONDS = 20
PAUSE_SECONDS = 0.05
LAST_CHARACTERS = 6000


@dataclass(frozen=True, slots=True)
class Program:
    """One that was started."""

    name: str
    process: "subprocess.Popen[bytes]"
    log_path: Path

    def log(self) -> str:
        """Return all that it printed."""
        return self.log_path.read_text(errors="replace")

    def kill(self) -> None:
        """End it at once, as the kernel does: kill -9."""
        self.process.kill()
        self.process.wait(STOP_TIMEOUT_SECONDS)

    def stop(self) -> int:
        """Ask it to end; return its exit code."""
        self.process.terminate()
        return self.process.wait(STOP_TIMEOUT_SECONDS)


class Programs:
    """Those that live as long as a block."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._started: list[Program] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for program in reversed(self._started):
            _end(program.process)

    def start(
        self, name: str, command: Sequence[str | Path], *, env: Mapping[str, str] | None = None
    ) -> Program:
        """Start one; it dies with us."""
        count = sum(one.name == name for one in self._started)
        path = self.folder / f"{name}{f'-{count + 1}' if count else ''}.log"
        with path.open("wb") as log:
            process = subprocess.Popen(
                ["setpriv", "--pdeathsig", "KILL", *map(str, command)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env={**os.environ, **(env or {})},
            )
        self._started.append(Program(name, process, path))
        return self._started[-1]


def wait_until(
    what: str,
    is_so: Callable[[], object],
    *programs: Program,
    timeout_seconds: float = START_TIMEOUT_SECONDS,
) -> None:
    """Return when it is so; raise when a program ends before, or the time is over."""
    deadline = time.monotonic() + timeout_seconds
    last: Exception | None = None
    while True:
        try:
            if is_so():
                return
        except Exception as error:  # noqa: BLE001  whatever it is: not so yet
            last = error
        ended = [one for one in programs if one.process.poll() is not None]
        if ended or time.monotonic() > deadline:
            logs = "\n".join(f"--- {p.name}:\n{p.log()[-LAST_CHARACTERS:]}" for p in programs)
            why = f"{ended[0].name} ended" if ended else f"not within {timeout_seconds:g} s"
            raise AssertionError(f"{what}: {why} ({last!r})\n{logs}")
        time.sleep(PAUSE_SECONDS)


def free_ports(count: int) -> list[int]:
    """Return loopback ports that nobody listens on."""
    with contextlib.ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for one in sockets:
            one.bind(("127.0.0.1", 0))
        return [one.getsockname()[1] for one in sockets]


@contextlib.contextmanager
def paused(program: Program) -> Iterator[None]:
    """Have a program stand still while the block runs: connections stay, nothing answers."""
    program.process.send_signal(signal.SIGSTOP)
    try:
        yield
    finally:
        program.process.send_signal(signal.SIGCONT)


def _end(process: "subprocess.Popen[bytes]") -> None:
    if process.poll() is None:
        process.terminate()
        try:
            process.wait(STOP_TIMEOUT_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
