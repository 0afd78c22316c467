"""Paths and parameters of requests, and why one had no answer."""

from collections.abc import Mapping
from math import isfinite
from typing import Any
from urllib.parse import quote

import httpx2

from gputide.kube.errors import InvalidError, KubeError
from gputide.kube.model import ResourceType

MAX_BODY_BYTES = 256 * 1024 * 1024


def group_path(api_version: str) -> str:
    """Return the path at which a group's version lists its resources."""
    parts = [quote(part, safe="") for part in api_version.split("/")]
    if any(part in ("", ".", "..") for part in parts):
        raise InvalidError(f"apiVersion {api_version!r}", "is no GROUP/VERSION, and no VERSION")
    return f"/apis/{'/'.join(parts)}" if "/" in api_version else f"/api/{parts[0]}"


def object_path(kind: ResourceType, namespace: str, name: str, subresource: str = "") -> str:
    """Return the path of one object.

    A name that is no path segment raises InvalidError: it would lead to the whole collection.
    """
    for word in (
        name,
        *([namespace] if namespace else []),
        *([subresource] if subresource else []),
    ):
        if word in ("", ".", "..") or "/" in word or "%" in word:
            raise InvalidError(f"{kind.qualified} {word!r}", "no object can have that name")
    return kind.path(namespace, name, subresource)


def selection(label_selector: str, field_selector: str) -> dict[str, str]:
    """Return the parameters that select objects."""
    given = {"labelSelector": label_selector, "fieldSelector": field_selector}
    return {name: value for name, value in given.items() if value}


def writing(field_manager: str, *, is_dry_run: bool = False) -> dict[str, str]:
    """Return the parameters of a write."""
    return {"fieldManager": field_manager} | ({"dryRun": "All"} if is_dry_run else {})


def is_idempotent(method: str, body: Any) -> bool:  # noqa: ANN401  any JSON
    """Whether a request may be sent twice: one based on a version is refused the second time."""
    if method in ("GET", "DELETE"):
        return True
    metadata = body.get("metadata") if isinstance(body, Mapping) else None
    return method != "POST" and isinstance(metadata, Mapping) and "resourceVersion" in metadata


def retry_after(answer: httpx2.Response) -> float | None:
    """Return the seconds that the server wants us to wait; None for a date, or for nonsense."""
    try:
        seconds = float(answer.headers.get("Retry-After", ""))
    except ValueError:
        return None
    return seconds if isfinite(seconds) and seconds >= 0 else None


async def read_body(answer: httpx2.Response, target: str) -> bytes:
    """Return the body, or raise KubeError where it is longer than any of Kubernetes'."""
    chunks, size = [], 0
    async for chunk in answer.aiter_bytes():
        size += len(chunk)
        if size > MAX_BODY_BYTES:
            raise KubeError(target, f"answers with more than {MAX_BODY_BYTES} bytes")
        chunks.append(chunk)
    return b"".join(chunks)


def words(error: Exception, server: str) -> str:
    """Return why there was no answer."""
    if isinstance(error, httpx2.TimeoutException | TimeoutError):
        return f"{server} does not answer in time"
    return f"{server} cannot be reached: {str(error) or type(error).__name__}"
