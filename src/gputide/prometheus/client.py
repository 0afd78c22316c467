"""The client: questions of Prometheus' HTTP API, as values of `model`."""

from collections.abc import Callable, Mapping, Sequence
from math import ceil, isfinite
from types import TracebackType
from typing import Self
from urllib.parse import quote

import msgspec
import structlog

from gputide.clock import Clock, SystemClock
from gputide.errors import InputError, QueryError
from gputide.prometheus.connection import Connection, Question, system_random
from gputide.prometheus.decode import (
    Answer,
    AnswerError,
    Kind,
    ServerError,
    decode_answer,
    decode_data,
    decode_instant,
)
from gputide.prometheus.failures import RefusedError, clean
from gputide.prometheus.model import InstantResult, Labels, RangeResult
from gputide.prometheus.range_read import RangeRead
from gputide.prometheus.settings import PrometheusSettings
from gputide.prometheus.stitch import align

log = structlog.stdlib.get_logger()


class MetricMetadata(msgspec.Struct, frozen=True):
    """What a target says about a metric."""

    type: str
    help: str
    unit: str = ""


class BuildInformation(msgspec.Struct, frozen=True):
    """Which program answers; VictoriaMetrics, Thanos and others leave some of it empty."""

    version: str = ""
    revision: str = ""
    branch: str = ""


class Prometheus:
    """A Prometheus-compatible server, asked over its HTTP API; an async context manager.

        async with Prometheus(settings) as prometheus:
            result = await prometheus.query_range("up", start_seconds=..., ...)

    Every question raises QueryError where the server cannot be reached, refuses, or answers with
    something else than was asked; the message names the server without secrets and carries its own
    words. Each has `settings.timeout_seconds` for all that it does, and asks again (with full
    jitter, a few times) only after 429, 503 and broken connections. Safe to use from several tasks.
    """

    def __init__(
        self,
        settings: PrometheusSettings,
        *,
        clock: Clock | None = None,
        random: Callable[[], float] = system_random,
    ) -> None:
        self._connection = Connection(settings, clock or SystemClock(), random)
        self._concurrency = settings.max_concurrency

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        await self.close()

    @property
    def target(self) -> str:
        """The server's address without secrets."""
        return self._connection.target

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def query(self, expression: str, *, at_seconds: float | None = None) -> InstantResult:
        """Return the value of each series at a Unix time (default: the server's now)."""
        deadline = self._connection.deadline()
        parameters = [("query", expression), self._timeout(deadline)]
        if at_seconds is not None:
            parameters.append(("time", _time(at_seconds)))
        answer = await self._ask("/api/v1/query", parameters, deadline)
        try:
            return decode_instant(answer, expression)
        except AnswerError as error:
            raise self._unexpected(error) from error

    async def query_range(
        self, expression: str, *, start_seconds: float, end_seconds: float, step_seconds: int
    ) -> RangeResult:
        """Return the expression over [start, end] (Unix times) on the multiples of the step within.

        Any length: longer ranges are read in pieces, `settings.max_concurrency` at a time, and in
        smaller ones where the server or `settings.max_response_bytes` says that one is too large.
        """
        grid = align(
            start_seconds=start_seconds, end_seconds=end_seconds, step_seconds=step_seconds
        )
        deadline = self._connection.deadline()

        async def ask(start: int, end: int) -> Answer:
            parameters = [("query", expression), ("start", str(start)), ("end", str(end))]
            parameters += [("step", str(step_seconds)), self._timeout(deadline)]
            return await self._ask("/api/v1/query_range", parameters, deadline)

        try:
            return await RangeRead(expression, grid, ask).run(concurrency=self._concurrency)
        except AnswerError as error:
            raise self._unexpected(error) from error

    async def series(
        self, matchers: Sequence[str], *, start_seconds: float, end_seconds: float
    ) -> tuple[Labels, ...]:
        """Return the label sets that any of the selectors matches within [start, end]."""
        parameters = [("match[]", one) for one in matchers]
        parameters += [("start", _time(start_seconds)), ("end", _time(end_seconds))]
        found: list[dict[str, str]] = await self._data(
            "/api/v1/series", parameters, list[dict[str, str]]
        )
        return tuple(found)

    async def label_names(
        self, matchers: Sequence[str] = (), *, span: tuple[float, float] | None = None
    ) -> tuple[str, ...]:
        """Return the names of all labels (of the series that match, within a span of time)."""
        parameters = [("match[]", one) for one in matchers] + _span(span)
        return tuple(await self._data("/api/v1/labels", parameters, list[str]))

    async def label_values(
        self, name: str, matchers: Sequence[str] = (), *, span: tuple[float, float] | None = None
    ) -> tuple[str, ...]:
        """Return the values of one label; of `__name__` these are the metrics."""
        parameters = [("match[]", one) for one in matchers] + _span(span)
        path = f"/api/v1/label/{quote(name, safe='')}/values"
        return tuple(await self._data(path, parameters, list[str], may_post=False))

    async def metadata(self, metric: str = "") -> Mapping[str, tuple[MetricMetadata, ...]]:
        """Return type and help of all metrics or of one, as the targets give them."""
        parameters = [("metric", metric)] if metric else []
        return await self._data(
            "/api/v1/metadata", parameters, dict[str, tuple[MetricMetadata, ...]], may_post=False
        )

    async def build_information(self) -> BuildInformation:
        """Return which program and version answers."""
        return await self._data("/api/v1/status/buildinfo", [], BuildInformation, may_post=False)

    async def is_ready(self) -> bool:
        """Return whether the server answers queries now; False where it cannot be reached.

        Raises QueryError where it refuses us (401, 403, a login page).
        """
        deadline = self._connection.deadline()
        try:
            await self._connection.ask(Question(path="/-/ready", attempts=1), deadline)
        except RefusedError as error:
            if error.status == 404:  # a managed server shows its API alone
                return bool((await self.query("vector(1)")).labels)
            if error.status // 100 == 5:
                return False
            raise
        except QueryError as error:
            if error.is_retryable:
                return False
            raise
        return True

    async def fetch(self, path: str, parameters: Sequence[tuple[str, str]]) -> bytes:
        """Return the JSON of a successful answer as it came, for those who pass it on."""
        question = Question(path=path, parameters=parameters, may_post=True)
        return await self._connection.ask(question, self._connection.deadline())

    async def _data(
        self,
        path: str,
        parameters: Sequence[tuple[str, str]],
        kind: type[Kind],
        *,
        may_post: bool = True,
    ) -> Kind:
        answer = await self._ask(path, parameters, self._connection.deadline(), may_post=may_post)
        if answer.warnings:  # names and labels have no place for them
            log.warning("Prometheus warns", target=self.target, path=path, warnings=answer.warnings)
        try:
            return decode_data(answer, kind)
        except AnswerError as error:
            raise self._unexpected(error) from error

    async def _ask(
        self,
        path: str,
        parameters: Sequence[tuple[str, str]],
        deadline: float,
        *,
        may_post: bool = True,
    ) -> Answer:
        question = Question(path=path, parameters=parameters, may_post=may_post)
        body = await self._connection.ask(question, deadline)
        try:
            return decode_answer(body)
        except (AnswerError, ServerError) as error:
            raise self._unexpected(error) from error

    def _timeout(self, deadline: float) -> tuple[str, str]:
        """Tell the server when to give up as well."""
        return "timeout", f"{max(ceil(self._connection.remaining_seconds(deadline)), 1)}s"

    def _unexpected(self, error: AnswerError | ServerError) -> QueryError:
        return QueryError(self.target, f"unexpected answer: {clean(str(error))}")


def _span(span: tuple[float, float] | None) -> list[tuple[str, str]]:
    """Return the parameters that bound a question about labels by Unix times."""
    return [] if span is None else [("start", _time(span[0])), ("end", _time(span[1]))]


def _time(seconds: float) -> str:
    if not isfinite(seconds):
        raise InputError("time", f"{seconds} is no Unix time")
    return f"{seconds:.3f}"
