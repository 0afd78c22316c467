"""A kubelet's pod-resources socket: a real gRPC server over HTTP/2 on a unix socket.

    async with kubelet_server(tmp_path / "kubelet.sock") as kubelet:
        kubelet.pods = (pod("chat-0", {"main": {"nvidia.com/gpu": ["GPU-1"]}}),)
        kubelet.behave = refused(13, "internal error")
        kubelet.calls, kubelet.connections

`behave` gets the connection and the stream and may do whatever it likes with both.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import h2.connection
import h2.events
import h2.exceptions
from h2.config import H2Configuration

Containers = Mapping[str, Mapping[str, Sequence[str]]]
"""Device ids by resource name by container name."""


def number(value: int) -> bytes:
    """Return a protobuf varint."""
    encoded = bytearray()
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def block(field_number: int, value: bytes | str) -> bytes:
    """Return a length-delimited protobuf field."""
    raw = value.encode() if isinstance(value, str) else value
    return number(field_number << 3 | 2) + number(len(raw)) + raw


def pod(name: str, containers: Containers, *, namespace: str = "demo") -> bytes:
    """Return a PodResources message, with fields beside ours as the kubelet sends them."""
    message = block(1, name) + block(2, namespace)
    for container, resources in containers.items():
        devices = b"".join(block(2, _devices(resource, ids)) for resource, ids in resources.items())
        cpus = block(3, number(0) + number(1)) + block(4, block(1, "memory") + b"\x10\x80\x08")
        message += block(3, block(1, container) + devices + cpus)
    return message


def _devices(resource: str, ids: Sequence[str]) -> bytes:
    topology = block(3, block(1, b"\x08\x01"))
    return block(1, resource) + b"".join(block(2, each) for each in ids) + topology


def list_answer(pods: Sequence[bytes]) -> bytes:
    """Return a ListPodResourcesResponse."""
    return b"".join(block(1, each) for each in pods)


@dataclass
class Call:
    """One call on one connection: what a behaviour works with."""

    kubelet: "KubeletServer"
    http: h2.connection.H2Connection
    stream: int
    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    headers: Mapping[str, str]

    async def flush(self) -> None:
        """Send what HTTP/2 has to send."""
        self.writer.write(self.http.data_to_send())
        await self.writer.drain()

    async def head(self, *headers: tuple[str, str]) -> None:
        """Send the headers of the answer."""
        self.http.send_headers(self.stream, headers or _HEAD)
        await self.flush()

    async def body(self, data: bytes) -> None:
        """Send data as far as the client's window allows, then wait for more of it."""
        while data:
            window = self.http.local_flow_control_window(self.stream)
            size = min(window, self.http.max_outbound_frame_size, len(data))
            if size == 0:
                await self.flush()
                received = await self.reader.read(65536)
                if not received:
                    raise ConnectionResetError
                self.http.receive_data(received)
                continue
            self.http.send_data(self.stream, data[:size])
            data = data[size:]
        await self.flush()

    async def trailers(self, *trailers: tuple[str, str]) -> None:
        """Send the end of the answer."""
        self.http.send_headers(self.stream, trailers or [("grpc-status", "0")], end_stream=True)
        await self.flush()


_HEAD = [(":status", "200"), ("content-type", "application/grpc")]
Behaviour = Callable[[Call], Awaitable[None]]


def framed(message: bytes) -> bytes:
    """Return a gRPC message with its prefix."""
    return b"\0" + len(message).to_bytes(4) + message


async def answer(call: Call) -> None:
    """Answer as a kubelet does."""
    await call.head()
    await call.body(framed(list_answer(call.kubelet.pods)))
    await call.trailers()


def refused(status: int, message: str) -> Behaviour:
    """Return a behaviour: an error status without a message, as gRPC servers send it."""

    async def refuse(call: Call) -> None:
        status_headers = [("grpc-status", str(status)), ("grpc-message", message)]
        call.http.send_headers(call.stream, [*_HEAD, *status_headers], end_stream=True)
        await call.flush()

    return refuse


async def silent(call: Call) -> None:
    """Never answer."""
    await call.reader.read()


def raw(data: bytes) -> Behaviour:
    """Return a behaviour: these bytes instead of HTTP/2, then the end."""

    async def send(call: Call) -> None:
        call.writer.write(data)
        await call.writer.drain()
        call.writer.close()

    return send


def body_only(data: bytes) -> Behaviour:
    """Return a behaviour: any bytes as the body of an answer that is otherwise good."""

    async def send(call: Call) -> None:
        await call.head()
        await call.body(data)
        await call.trailers()

    return send


async def half(call: Call) -> None:
    """Hang up in the middle of an answer."""
    await call.head()
    await call.body(framed(list_answer(call.kubelet.pods))[:20])
    call.writer.close()


@dataclass
class KubeletServer:
    """A server that runs: what it knows, what it does, and what happened."""

    path: Path
    pods: Sequence[bytes] = ()
    behave: Behaviour = answer
    calls: list[Mapping[str, str]] = field(default_factory=list)
    connections: int = 0
    writers: list[asyncio.StreamWriter] = field(default_factory=list)

    def hang_up(self) -> None:
        """Close every connection, as a kubelet that is restarted."""
        for writer in self.writers:
            writer.transport.abort()
        self.writers.clear()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection until it ends."""
        self.connections += 1
        self.writers.append(writer)
        http = h2.connection.H2Connection(
            H2Configuration(client_side=False, header_encoding="utf-8")
        )
        http.initiate_connection()
        writer.write(http.data_to_send())
        with suppress(ConnectionError, h2.exceptions.H2Error):
            while data := await reader.read(65536):
                for event in http.receive_data(data):
                    if isinstance(event, h2.events.RequestReceived):
                        headers = {str(name): str(value) for name, value in event.headers}
                        self.calls.append(headers)
                        stream = event.stream_id
                        await self.behave(Call(self, http, stream, reader, writer, headers))
                writer.write(http.data_to_send())
                await writer.drain()
        writer.close()


@asynccontextmanager
async def kubelet_server(path: Path) -> AsyncIterator[KubeletServer]:
    """Serve on a unix socket while the block runs."""
    kubelet = KubeletServer(path)
    server = await asyncio.start_unix_server(kubelet.serve, path)
    try:
        yield kubelet
    finally:
        server.close()
        kubelet.hang_up()
        await server.wait_closed()
        with suppress(FileNotFoundError):
            os.unlink(path)  # noqa: PTH108 a socket
