"""Parameters of requests, and why one had no answer."""

from collections.abc import Mapping
from typing import Any

import httpx2


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
    """Return the seconds that the server wants us to wait."""
    try:
        return float(answer.headers.get("Retry-After", ""))
    except ValueError:
        return None


def words(error: Exception, server: str) -> str:
    """Return why there was no answer."""
    if isinstance(error, httpx2.TimeoutException):
        return f"{server} does not answer in time"
    return f"{server} cannot be reached: {str(error) or type(error).__name__}"
