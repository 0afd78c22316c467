"""The kubelet's pod-resources socket: which container holds which device.

One kept connection; a failed call closes it, and the next one opens another.
"""

import asyncio
from errno import EACCES, EPERM

from gputide.exporter.owners import wire
from gputide.exporter.owners.grpc import GrpcChannel, GrpcError
from gputide.exporter.owners.model import HeldDevices
from gputide.exporter.owners.ports import OwnerSourceError
from gputide.exporter.owners.protobuf import MalformedMessageError
from gputide.exporter.owners.settings import OwnerSettings

READ_BYTES = 64 * 1024
_LARGE_BYTES = 256 * 1024


class PodResources:
    """A client of the kubelet on a unix socket; one question at a time."""

    def __init__(self, settings: OwnerSettings) -> None:
        self._path = settings.kubelet_socket
        self._deadline_seconds = settings.deadline_seconds
        self._lock = asyncio.Lock()
        self._link: _Link | None = None
        self.connections_total = 0

    async def held_devices(self) -> tuple[HeldDevices, ...]:
        """Return what every container holds now; raise OwnerSourceError."""
        async with self._lock:
            answer = await self._ask()
        try:
            if len(answer) > _LARGE_BYTES:  # seconds, at worst: meanwhile scrapes are answered
                return await asyncio.to_thread(wire.held_devices, answer)
            return wire.held_devices(answer)
        except MalformedMessageError as error:
            raise self._error(f"is no kubelet's: the answer is malformed: {error}") from error

    async def close(self) -> None:
        """Close the connection."""
        link, self._link = self._link, None
        if link is not None:
            await link.close()

    async def _ask(self) -> bytes:
        is_good = False
        try:
            async with asyncio.timeout(self._deadline_seconds):
                answer = await self._exchange()
            is_good = True
        except TimeoutError as error:
            raise self._error(f"no answer within {self._deadline_seconds:g} s") from error
        except OSError as error:
            raise self._error(_os_words(error)) from error
        except GrpcError as error:
            is_good = error.is_connection_good
            raise self._error(str(error)) from error
        finally:
            if not is_good:  # also where we were cancelled within a call
                await self.close()
        return answer

    async def _exchange(self) -> bytes:
        """Call on the kept connection; where that has gone in the meantime, on a new one."""
        link = self._link
        if link is not None and link.is_usable:
            try:
                return await link.call(self._deadline_seconds)
            except (_GoneError, ConnectionError):
                pass  # the kubelet was restarted, say: its socket is another one now
            except GrpcError as error:
                if error.is_connection_good:
                    raise
        await self.close()
        self._link = await _Link.open(self._path)
        self.connections_total += 1
        try:
            return await self._link.call(self._deadline_seconds)
        except _GoneError as error:
            raise GrpcError("is no kubelet's: it hangs up before it answers") from error

    def _error(self, problem: str) -> OwnerSourceError:
        return OwnerSourceError(f"kubelet's socket {self._path}", problem)


class _GoneError(Exception):
    """The connection was closed before a byte of the answer came."""


class _Link:
    """An open connection with its channel."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._channel = GrpcChannel()

    @classmethod
    async def open(cls, path: str) -> "_Link":
        return cls(*await asyncio.open_unix_connection(path))

    @property
    def is_usable(self) -> bool:
        is_open = not (self._reader.at_eof() or self._writer.is_closing())
        return is_open and self._channel.is_usable

    async def call(self, timeout_seconds: float) -> bytes:
        self._channel.call(wire.LIST_METHOD, b"", timeout_seconds=timeout_seconds)
        has_heard = False
        while True:
            self._writer.write(self._channel.outgoing())
            await self._writer.drain()
            data = await self._reader.read(READ_BYTES)
            if not data:
                if has_heard:
                    raise GrpcError("the connection ended before the answer was whole")
                raise _GoneError
            has_heard = True
            answer = self._channel.receive(data)
            if answer is not None:
                self._writer.write(self._channel.outgoing())
                return answer

    async def close(self) -> None:
        """Close; what is still to be sent is of no interest any more."""
        self._writer.transport.abort()


def _os_words(error: OSError) -> str:
    if isinstance(error, FileNotFoundError):
        return "is not there; mount the folder /var/lib/kubelet/pod-resources into the container"
    if isinstance(error, ConnectionRefusedError):
        return "nobody listens; the kubelet is restarting, or its folder was mounted by file"
    if isinstance(error, ConnectionError):
        return "is no kubelet's: it hangs up before it has answered"
    if error.errno in {EACCES, EPERM}:
        return "permission denied; the kubelet's socket is root's: run as user 0"
    return error.strerror or type(error).__name__
