"""A TLS server behind an API server, which admits the front proxy alone."""

import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import urlsplit

import trustme

from fakes.http_server import HttpServer, Request, Responder, http_server, response
from gputide.kubeapi.aggregation.identity import FrontProxy

RESOURCES = {
    "kind": "APIResourceList",
    "apiVersion": "v1",
    "groupVersion": "x.io/v1",
    "resources": [
        {
            "name": "tides",
            "singularName": "tide",
            "namespaced": True,
            "kind": "Tide",
            "verbs": ["get", "list"],
        }
    ],
}


def discovery(_: Request) -> bytes:
    """Answer every request with the list of resources."""
    return response(json.dumps(RESOURCES).encode())


class Site:
    """Certificates of one test: an authority, the front proxy, and who admits it."""

    def __init__(self, folder: Path) -> None:
        self.proxy = FrontProxy.made(folder, datetime.now(UTC))  # noqa: TID251 certificates are checked against the real time
        self.authority = trustme.CA()
        self.authority_pem = self.authority.cert_pem.bytes().decode()

    def context(self, name: str = "s.n.svc") -> ssl.SSLContext:
        """Return the TLS of a server of that name, which asks for the front proxy's certificate."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.authority.issue_cert(name).configure_cert(context)
        context.load_verify_locations(cadata=self.proxy.authority_pem)
        context.verify_mode = ssl.CERT_REQUIRED
        return context

    @asynccontextmanager
    async def served(
        self, responder: Responder = discovery, name: str = "s.n.svc"
    ) -> AsyncIterator[HttpServer]:
        """Serve as a server of that name."""
        async with http_server(responder, tls=self.context(name)) as server:
            yield server


def port_of(server: HttpServer) -> int:
    """Return the port of a server."""
    port = urlsplit(server.url).port
    assert port
    return port
