"""Fetches pages from the exporters of a site, over connections that stay open."""

from collections import Counter
from dataclasses import dataclass
from typing import Self

import httpx2

from gputide.tunnel.agent.site import Site
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.pages import MAX_PAGE_BYTES
from gputide.tunnel.protocol import Code, Scrape

FORWARDED = frozenset({"accept", "user-agent", "authorization"})
"""Header names that reach the exporter; whatever else a client sends stays outside."""

RETURNED = frozenset({"content-type", "retry-after", "www-authenticate"})
DEADLINE_HEADER = "X-Prometheus-Scrape-Timeout-Seconds"
MAX_CONNECTIONS = 512


@dataclass(frozen=True, slots=True, kw_only=True)
class Fetched:
    """An exporter's answer."""

    status: int
    headers: tuple[tuple[str, str], ...]
    page: bytes


class Fetcher:
    """One pool of connections to the site's exporters."""

    def __init__(self, site: Site, *, max_page_bytes: int = MAX_PAGE_BYTES) -> None:
        self._site = site
        self._max_page_bytes = max_page_bytes
        self.outcomes: Counter[str] = Counter()
        """Pages by outcome: `ok`, or the code of the refusal."""

        limits = httpx2.Limits(
            max_connections=MAX_CONNECTIONS, max_keepalive_connections=MAX_CONNECTIONS
        )
        # trust_env: a site's proxy settings must not lead pages of its own network elsewhere
        self._client = httpx2.AsyncClient(limits=limits, trust_env=False, follow_redirects=False)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def fetch(self, request: Scrape) -> Fetched:
        """Return what the exporter answers; raise TunnelRefusedError with its reason."""
        try:
            fetched = await self._fetch(request)
        except TunnelRefusedError as error:
            self.outcomes[error.code] += 1
            raise
        self.outcomes["ok"] += 1
        return fetched

    async def _fetch(self, request: Scrape) -> Fetched:
        address = self._site.page_address(request.node, request.port, request.path)
        seconds = max(request.timeout_ms / 1000, 0.01)
        try:
            return await self._get(request, address, seconds)
        except httpx2.TimeoutException as error:
            text = f"{request.node}:{request.port} gave no page in {seconds:.3g} s"
            raise TunnelRefusedError(Code.TARGET_TIMED_OUT, text) from error
        except httpx2.HTTPError as error:
            text = f"{request.node}:{request.port} ({address}): {_words(error)}"
            raise TunnelRefusedError(Code.UNREACHABLE, text) from error

    async def _get(self, request: Scrape, address: str, seconds: float) -> Fetched:
        host = f"[{address}]" if ":" in address else address
        scheme = "https" if request.is_tls else "http"
        query = f"?{request.query}" if request.query else ""
        headers = {name: value for name, value in request.headers if _may_pass(name, value)}
        headers["Host"] = f"{request.node}:{request.port}"
        headers["Accept-Encoding"] = "identity"  # it is packed for the tunnel, better than gzip
        headers[DEADLINE_HEADER] = f"{seconds:g}"
        url = f"{scheme}://{host}:{request.port}{request.path}{query}"
        async with self._client.stream("GET", url, headers=headers, timeout=seconds) as answer:
            parts = []
            size = 0
            async for part in answer.aiter_bytes():
                parts.append(part)
                size += len(part)
                if size > self._max_page_bytes:
                    text = f"the page has more than {self._max_page_bytes} bytes"
                    raise TunnelRefusedError(Code.TOO_LARGE, text)
            returned = tuple(
                (name, value) for name, value in answer.headers.items() if name in RETURNED
            )
            return Fetched(status=answer.status_code, headers=returned, page=b"".join(parts))


def _may_pass(name: str, value: str) -> bool:
    return name.lower() in FORWARDED and "\r" not in value and "\n" not in value


def _words(error: Exception) -> str:
    return str(error) or type(error).__name__
