"""Serves an ASGI app on a bound socket, as a task among others; plain HTTP."""

import socket
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import uvicorn

KEEP_ALIVE_SECONDS = 30
MAX_CONNECTIONS = 256


class _Server(uvicorn.Server):
    """uvicorn without its signal handlers: the process' own shell decides when to end."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Leave the signals alone."""
        yield


async def serve_app(app: Any, listening: socket.socket) -> None:  # noqa: ANN401  any ASGI app
    """Serve until cancelled."""
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_keep_alive=KEEP_ALIVE_SECONDS,
        limit_concurrency=MAX_CONNECTIONS,
        server_header=False,
    )
    listening.listen(MAX_CONNECTIONS)
    await _Server(config).serve(sockets=[listening])
