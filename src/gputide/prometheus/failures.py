"""What went wrong between us and the server, in words that say what would mend it."""

import os
import re
import socket
import ssl
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx2

from gputide.errors import QueryError
from gputide.prometheus.decode import AnswerError, ServerError, decode_answer

_MAX_TEXT = 300

_TOO_LARGE = re.compile(
    "too many samples|exceeded maximum resolution|too many points"
    "|maximum number of (series|samples)|response too large",
    re.IGNORECASE,
)


class RefusedError(QueryError):
    """The server refused with `status`; it wants to be left alone for `after_seconds`.

    `is_too_large` where a shorter range might pass.
    """

    def __init__(
        self,
        target: str,
        problem: str,
        *,
        status: int = 200,
        is_retryable: bool = False,
        is_too_large: bool = False,
        after_seconds: float = 0,
    ) -> None:
        super().__init__(target, problem, is_retryable=is_retryable)
        self.status = status
        self.is_too_large = is_too_large
        self.after_seconds = after_seconds


@dataclass(frozen=True, slots=True, kw_only=True)
class Reply:
    """An HTTP response, read to its end."""

    status: int
    content_type: str
    location: str
    retry_after: str
    body: bytes


def refusal(target: str, reply: Reply, redact: Callable[[str], str]) -> RefusedError:
    """Return the error that a response other than 200 means, with the server's own words.

    `redact` takes out of those words what nobody may read.
    """
    kind, words = _words(reply, redact)
    is_busy = reply.status in {429, 503} and kind != "timeout"
    if reply.status // 100 == 3:
        host = urlsplit(reply.location).netloc.rpartition("@")[2] or "another path"
        problem = f"redirects to {host} (HTTP {reply.status}): a login page or an old address?"
    else:
        problem = ": ".join(part for part in (f"HTTP {reply.status}", kind, words) if part)
        problem += _advice(reply, words)
    return RefusedError(
        target,
        problem,
        status=reply.status,
        is_retryable=is_busy,
        is_too_large=bool(_TOO_LARGE.search(words)),
        after_seconds=float(reply.retry_after) if reply.retry_after.isdigit() else 0,
    )


def unreachable(target: str, error: httpx2.HTTPError | OSError) -> QueryError:
    """Return the error that a failed exchange means; TLS failures are no cause to try again."""
    for cause in _causes(error):
        is_waiting = isinstance(cause, ssl.SSLWantReadError | ssl.SSLWantWriteError)
        if isinstance(cause, ssl.SSLError) and not is_waiting:
            return QueryError(target, _tls_problem(cause))
    if isinstance(error, httpx2.ConnectTimeout):
        return QueryError(target, "cannot connect in time: firewall?", is_retryable=True)
    if isinstance(error, httpx2.ConnectError):
        return QueryError(target, f"cannot connect: {_system_words(error)}", is_retryable=True)
    if isinstance(error, httpx2.DecodingError):
        return QueryError(target, "the answer's compression is broken")
    words = str(error) or type(error).__name__
    return QueryError(target, f"the connection broke: {words}", is_retryable=True)


def clean(text: str) -> str:
    """Return a server's text as one short line without control characters."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= _MAX_TEXT else f"{line[:_MAX_TEXT]}…"


def _words(reply: Reply, redact: Callable[[str], str]) -> tuple[str, str]:
    """Return Prometheus' errorType and error, or what there is."""
    if not reply.body.strip():
        return "", ""
    try:
        decode_answer(reply.body)
    except ServerError as error:
        kind = "" if error.kind == str(reply.status) else error.kind  # VictoriaMetrics' way
        return kind, clean(redact(error.text))
    except AnswerError as error:
        is_text = reply.content_type.startswith("text/plain") or not reply.content_type
        words = reply.body[:4096].decode(errors="replace") if is_text else str(error)
        return "", clean(redact(words))
    return "", ""


def _advice(reply: Reply, words: str) -> str:
    if reply.status == 401:
        return " (give a bearer token, or user and password)"
    if reply.status == 403:
        return " (these credentials may not read here)"
    if reply.status == 404:
        return " (is the path before /api/v1 right?)"
    if "HTTP request to an HTTPS server" in words:
        return " (the address has to begin with https://)"
    return ""


def _tls_problem(error: ssl.SSLError) -> str:
    text = str(error).upper().replace(" ", "_")
    if isinstance(error, ssl.SSLCertVerificationError):
        return _certificate_problem(error)
    if "WRONG_VERSION_NUMBER" in text or "RECORD_LAYER_FAILURE" in text:
        return "TLS: it does not speak TLS there: does the address begin with http://?"
    if "CERTIFICATE_REQUIRED" in text or "BAD_CERTIFICATE" in text or "UNKNOWN_CA" in text:
        return (
            "TLS: it wants a certificate from us that it trusts: "
            "give prometheus-cert-file and prometheus-key-file"
        )
    return f"TLS: {clean(str(error))}"


def _certificate_problem(error: ssl.SSLCertVerificationError) -> str:
    what = clean(error.verify_message).rstrip(".")
    match error.verify_code:
        case 10:
            return "TLS: its certificate has expired"
        case 9:
            return "TLS: its certificate is not valid yet: is a clock wrong?"
        case 18 | 19 | 20 | 21:
            return f"TLS: unknown CA ({what}): give its certificate as prometheus-ca-file"
        case 62 | 64:
            return f"TLS: its certificate is for another name: {what}"
        case _:
            return f"TLS: its certificate is refused: {what}"


def _system_words(error: httpx2.ConnectError) -> str:
    """Return the operating system's words ("Connection refused"), which a library may wrap."""
    for cause in _causes(error):
        if isinstance(cause, OSError) and cause.errno:
            is_lookup = isinstance(cause, socket.gaierror)
            return clean(str(cause.strerror) if is_lookup else os.strerror(cause.errno))
    return clean(str(error)) or "no reason given"


def _causes(error: BaseException) -> Iterator[BaseException]:
    """Yield the error and what it came from, exception groups opened."""
    pending: list[BaseException | None] = [error]
    seen: set[int] = set()
    while pending:
        one = pending.pop(0)
        if one is None or id(one) in seen:
            continue
        seen.add(id(one))
        yield one
        pending += [one.__cause__, one.__context__]
        if isinstance(one, BaseExceptionGroup):
            pending += one.exceptions
