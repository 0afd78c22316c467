"""Which labels Prometheus gives a target, asked of itself: backfilled series are the same ones."""

from typing import Any
from urllib.parse import urlsplit

import httpx2
import msgspec

from gputide.clock import Clock
from gputide.errors import QueryError

KEEP_SECONDS = 30.0
MAX_ANSWER_BYTES = 256 * 1024 * 1024


class _Target(msgspec.Struct, frozen=True, rename="camel"):
    scrape_url: str = ""
    labels: dict[str, str] = {}
    discovered_labels: dict[str, str] = {}


class _Targets(msgspec.Struct, frozen=True, rename="camel"):
    active_targets: list[_Target] = []


class _Answer(msgspec.Struct, frozen=True):
    status: str
    data: _Targets = _Targets()
    error: str = ""


class TargetLabels:
    """Labels by (node, port), asked again when they are older than half a minute."""

    def __init__(self, client: httpx2.AsyncClient, url: str, clock: Clock) -> None:
        self._client = client
        self._url = url.rstrip("/") + "/api/v1/targets"
        self._clock = clock
        self._found: dict[tuple[str, int], list[dict[str, str]]] = {}
        self._read_at_seconds: float | None = None

    async def of(self, node: str, port: int) -> list[dict[str, str]]:
        """Return the labels of each target of that node and port; QueryError."""
        now_seconds = self._clock.monotonic_seconds()
        if self._read_at_seconds is None or now_seconds - self._read_at_seconds > KEEP_SECONDS:
            self._found = group_targets(await self._read())
            self._read_at_seconds = now_seconds
        return self._found.get((node, port), [])

    async def _read(self) -> Any:  # noqa: ANN401  a private struct
        try:
            answer = await self._client.get(self._url, params={"state": "active"})
            found = msgspec.json.decode(answer.content, type=_Answer)
        except (httpx2.HTTPError, OSError) as error:
            raise QueryError(self._url, f"cannot be asked: {error}", is_retryable=True) from error
        except msgspec.MsgspecError as error:
            raise QueryError(self._url, f"answers with no targets: {error}") from error
        if found.status != "success":
            raise QueryError(self._url, found.error or "refused")
        return found.data


def group_targets(data: Any) -> dict[tuple[str, int], list[dict[str, str]]]:  # noqa: ANN401
    """Return labels by the node and port that a target is scraped at."""
    found: dict[tuple[str, int], list[dict[str, str]]] = {}
    for target in data.active_targets:
        place = place_of(target.scrape_url)
        if place is not None:
            found.setdefault(place, []).append(dict(target.labels))
    return found


def place_of(url: str) -> tuple[str, int] | None:
    """Return node and port of a scrape URL; None for what is no such URL."""
    try:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
    except ValueError:
        return None
    return (parts.hostname.lower(), port) if parts.hostname else None
