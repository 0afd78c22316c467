"""A tiny exporter whose page counts how often it was fetched."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass


@dataclass
class CountingExporter:
    """Serves one counter, on every path."""

    port: int = 0
    pages: int = 0

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while await reader.readuntil(b"\r\n\r\n"):
                self.pages += 1
                kind = "# TYPE pages_served_total counter"
                body = f'{kind}\npages_served_total{{gpu="0"}} {self.pages}\n'
                head = "HTTP/1.1 200 OK\r\nContent-Type: text/plain; version=0.0.4\r\n"
                writer.write(f"{head}Content-Length: {len(body)}\r\n\r\n{body}".encode())
                await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()

    @classmethod
    @asynccontextmanager
    async def running(cls) -> "AsyncIterator[CountingExporter]":
        made = cls()
        server = await asyncio.start_server(made.serve, "127.0.0.1", 0)
        made.port = server.sockets[0].getsockname()[1]
        try:
            yield made
        finally:
            server.close()
