"""Question in, body out: one server over HTTP, with credentials, deadline and retries."""

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from random import SystemRandom
from urllib.parse import urlencode

import httpx2
import structlog

from gputide import __version__
from gputide.clock import Clock
from gputide.errors import QueryError
from gputide.prometheus.credentials import Credentials, TlsContext
from gputide.prometheus.failures import RefusedError, Reply, refusal, unreachable
from gputide.prometheus.settings import PrometheusSettings

MAX_ATTEMPTS = 4
FIRST_PAUSE_SECONDS = 0.25
LONGEST_PAUSE_SECONDS = 5.0
CONNECT_TIMEOUT_SECONDS = 10.0
LONGEST_URL = 2_000
"""A longer question goes as a POSTed form: proxies cut long addresses."""

system_random = SystemRandom().random
log = structlog.stdlib.get_logger()
# It would log every address in full, and some vendors carry a key there.
logging.getLogger("httpx2").setLevel(logging.WARNING)


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """A path below the server's address, and its parameters (a name may come several times)."""

    path: str
    parameters: Sequence[tuple[str, str]] = ()
    may_post: bool = False
    attempts: int = MAX_ATTEMPTS


class Connection:
    """Connections to one server, kept open between questions; close it with `close`."""

    def __init__(
        self,
        settings: PrometheusSettings,
        clock: Clock,
        random: Callable[[], float] = system_random,
    ) -> None:
        self.target = settings.target
        self._settings = settings
        self._clock = clock
        self._random = random
        self._credentials = Credentials(settings)
        self._tls = TlsContext(settings) if settings.base_url.startswith("https") else None
        if settings.insecure_skip_verify:
            log.warning("the server's certificate is not checked", target=self.target)
        self._gate = asyncio.Semaphore(settings.max_concurrency)
        self._http = httpx2.AsyncClient(
            verify=self._tls.context if self._tls else False,  # nothing to verify on plain HTTP
            timeout=httpx2.Timeout(None, connect=CONNECT_TIMEOUT_SECONDS),
            headers={
                "User-Agent": f"gputide/{__version__}",
                "Accept": "application/json",
                "Accept-Encoding": "identity",  # Prometheus packs slower than a network carries
            },
            follow_redirects=False,  # credentials go to the address that the person gave
            trust_env=False,  # no .netrc, no proxy that nobody named
        )

    async def close(self) -> None:
        """Close what is open."""
        await self._http.aclose()

    def deadline(self) -> float:
        """Return the monotonic time at which a question that is asked now must be answered."""
        return self._clock.monotonic_seconds() + self._settings.timeout_seconds

    def remaining_seconds(self, deadline: float) -> float:
        """Return the time left, at least 0."""
        return max(deadline - self._clock.monotonic_seconds(), 0)

    async def ask(self, question: Question, deadline: float) -> bytes:
        """Return the body of a 200, asking again where the server was busy or out of reach.

        Raises QueryError (RefusedError where the server answered otherwise).
        """
        for attempt in range(question.attempts):
            try:
                return await self._attempt(question, deadline)
            except QueryError as error:
                pause = self._pause_seconds(attempt, error)
                is_last = attempt + 1 == question.attempts
                if is_last or not error.is_retryable or pause >= self.remaining_seconds(deadline):
                    raise
            await self._clock.sleep(pause)
        raise AssertionError("unreachable: the last attempt returns or raises")

    def _pause_seconds(self, attempt: int, error: QueryError) -> float:
        """Full jitter, so that many clients of a restarted server do not come back at once."""
        longest = min(FIRST_PAUSE_SECONDS * float(2**attempt), LONGEST_PAUSE_SECONDS)
        asked = error.after_seconds if isinstance(error, RefusedError) else 0
        return asked + longest * self._random()

    async def _attempt(self, question: Question, deadline: float) -> bytes:
        if self._tls:
            self._tls.refresh()
        try:
            async with asyncio.timeout(self.remaining_seconds(deadline)), self._gate:
                reply = await self._exchange(self._request(question))
        except TimeoutError as error:
            waited = f"{self._settings.timeout_seconds:g} s"
            raise QueryError(
                self.target, f"no answer within {waited}", is_retryable=True
            ) from error
        except (httpx2.HTTPError, OSError) as error:  # some TLS alerts come as they are
            raise unreachable(self.target, error) from error
        except RuntimeError as error:
            if not self._http.is_closed:
                raise
            raise QueryError(self.target, "is asked no more: the client was closed") from error
        if reply.status != 200:
            raise refusal(self.target, reply, redact=self._credentials.redact)
        return reply.body

    def _request(self, question: Question) -> httpx2.Request:
        url = f"{self._settings.base_url}{question.path}"
        form = urlencode(question.parameters)
        headers = self._credentials.headers()
        if question.may_post and len(url) + len(form) > LONGEST_URL:
            headers = [*headers, ("Content-Type", "application/x-www-form-urlencoded")]
            return self._http.build_request("POST", url, content=form, headers=headers)
        return self._http.build_request("GET", f"{url}?{form}" if form else url, headers=headers)

    async def _exchange(self, request: httpx2.Request) -> Reply:
        response = await self._http.send(request, stream=True)
        try:
            body = await self._read(response)
        finally:
            await response.aclose()
        return Reply(
            status=response.status_code,
            content_type=response.headers.get("content-type", ""),
            location=response.headers.get("location", ""),
            retry_after=response.headers.get("retry-after", ""),
            body=body,
        )

    async def _read(self, response: httpx2.Response) -> bytes:
        body = bytearray()
        async for chunk in response.aiter_bytes():
            body += chunk  # counted unpacked, so that a small answer cannot fill our memory
            if len(body) > self._settings.max_response_bytes:
                raise RefusedError(
                    self.target,
                    f"the answer is larger than {self._settings.max_response_bytes} bytes "
                    "(prometheus-max-response-bytes): aggregate in the query",
                    is_too_large=True,
                )
        return bytes(body)
