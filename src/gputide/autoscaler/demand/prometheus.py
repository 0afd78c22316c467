"""Demand from Prometheus: one instant query a metric and round, the past in chunks."""

import asyncio
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from math import isfinite

import numpy as np

from gputide.autoscaler.demand.model import (
    Answer,
    ApiSource,
    FloatArray,
    Past,
    PastRequest,
    PodKey,
    PodsSource,
    SeriesSource,
    Source,
)
from gputide.autoscaler.demand.ports import MetricsApi
from gputide.autoscaler.demand.promql import current_query, is_groupable, past_query
from gputide.autoscaler.model import DemandState
from gputide.errors import GputideError, InputError, QueryError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.model import Combination, InstantResult, RangeResult, combine

STEP_SECONDS = 60
CHUNK_WORKLOADS = 40
"""Workloads of one query of the past: some 8 MB of JSON a week, a fifth of a second to answer."""

PAST_AT_A_TIME = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadSettings:
    """How demand is read."""

    max_age_seconds: float = 90.0
    """Older samples are not used: some five scrapes of 15 s."""

    window_seconds: int = 120
    """Of rates; at least two scrapes."""

    deadline_seconds: float = 10.0
    """For the newest demand: a round must not wait for a slow server."""


class PrometheusDemand:
    """One Prometheus; a metrics API beside it for metrics that it does not have by query."""

    def __init__(
        self,
        prometheus: Prometheus | None,
        settings: ReadSettings | None = None,
        *,
        metrics_api: MetricsApi | None = None,
    ) -> None:
        self._prometheus = prometheus
        self._without = "no Prometheus is configured"
        self._settings = settings or ReadSettings()
        self._metrics_api = metrics_api
        self.queries: Counter[str] = Counter()
        """Queries by outcome; for metrics."""

    def use(self, prometheus: Prometheus | None, why: str = "") -> None:
        """Take another server from now on; None: there is none, and `why`."""
        self._prometheus = prometheus
        self._without = why or "no Prometheus is configured"

    async def read(
        self, sources: Sequence[Source], *, now_seconds: float
    ) -> Mapping[Source, Answer]:
        """Return what each source says now."""
        answers = await asyncio.gather(*(self._read(one, now_seconds) for one in sources))
        return dict(zip(sources, answers, strict=True))

    async def _read(self, source: Source, now_seconds: float) -> Answer:
        if isinstance(source, ApiSource):
            return await self._ask_api(source, now_seconds)
        if self._prometheus is None:
            return _none(now_seconds, DemandState.NOT_CONFIGURED, self._without)
        try:
            async with asyncio.timeout(self._settings.deadline_seconds):
                result = await self._prometheus.query(self._expression(source))
        except TimeoutError:
            self.queries["slow"] += 1
            text = f"no answer within {self._settings.deadline_seconds:g} s"
            return _none(now_seconds, DemandState.SOURCE_DOWN, text)
        except GputideError as error:
            return self._failed(error, now_seconds)
        self.queries["ok"] += 1
        is_of_pods = isinstance(source, PodsSource)
        return (pods_answer if is_of_pods else series_answer)(result, now_seconds)

    async def _ask_api(self, source: ApiSource, now_seconds: float) -> Answer:
        if self._metrics_api is None:
            text = f"no query and no metrics API for {source.name}"
            return _none(now_seconds, DemandState.NOT_CONFIGURED, text)
        return await self._metrics_api.read(source, now_seconds=now_seconds)

    def _expression(self, source: PodsSource | SeriesSource) -> str:
        if isinstance(source, SeriesSource):
            return source.expression
        return current_query(
            source.query.expression,
            age_seconds=self._settings.max_age_seconds,
            window_seconds=self._settings.window_seconds,
        )

    def _failed(self, error: GputideError, now_seconds: float) -> Answer:
        is_down = isinstance(error, QueryError) and error.is_retryable
        state = DemandState.SOURCE_DOWN if is_down else DemandState.SOURCE_REFUSED
        self.queries["down" if is_down else "refused"] += 1
        return _none(now_seconds, state, str(error))

    async def past(
        self, requests: Sequence[PastRequest], *, start_seconds: int, end_seconds: int
    ) -> Past:
        """Return the past of some workloads, every minute of [start, end]."""
        if self._prometheus is None:
            return Past(problem=self._without)
        slots = asyncio.Semaphore(PAST_AT_A_TIME)

        async def one(chunk: Sequence[PastRequest]) -> Past:
            async with slots:
                return await self._chunk(chunk, start_seconds, end_seconds)

        found = await asyncio.gather(*(one(chunk) for chunk in chunks(requests)))
        rows = {row: values for part in found for row, values in part.rows.items()}
        return Past(rows=rows, problem=next((part.problem for part in found if part.problem), ""))

    async def _chunk(self, chunk: Sequence[PastRequest], start: int, end: int) -> Past:
        prometheus, source = self._prometheus, chunk[0].source
        if prometheus is None or isinstance(source, ApiSource):
            return Past()
        if isinstance(source, SeriesSource):
            expression = source.expression
        else:
            expression = past_query(
                source.query.expression,
                [one.workload for one in chunk],
                how="sum" if source.query.is_additive else "avg",
                window_seconds=self._settings.window_seconds,
            )
        try:
            result = await prometheus.query_range(
                expression, start_seconds=start, end_seconds=end, step_seconds=STEP_SECONDS
            )
            self.queries["past"] += 1
            if isinstance(source, SeriesSource):
                return Past(rows={chunk[0].row: _summed(result)})
            return Past(rows=_by_workload(result, chunk))
        except GputideError as error:
            self.queries["past_failed"] += 1
            return Past(problem=str(error))

    async def past_pods(
        self, request: PastRequest, *, start_seconds: int, end_seconds: int
    ) -> FloatArray | None:
        """Return how many pods the workload had each minute; None where nobody knows."""
        if self._prometheus is None or not isinstance(request.source, PodsSource):
            return None
        expression = past_query(
            request.source.query.expression,
            [request.workload],
            how="count",
            window_seconds=self._settings.window_seconds,
        )
        try:
            result = await self._prometheus.query_range(
                expression,
                start_seconds=start_seconds,
                end_seconds=end_seconds,
                step_seconds=STEP_SECONDS,
            )
        except GputideError:
            self.queries["past_failed"] += 1
            return None
        return _by_workload(result, [request])[request.row]


def pods_answer(result: InstantResult, now_seconds: float) -> Answer:
    """Return values by pod; a value that is no number stays NaN, for its pod is there."""
    pods: dict[PodKey, float] = {}
    duplicates: set[PodKey] = set()
    for labels, value in zip(result.labels, result.values.tolist(), strict=True):
        key = (labels.get("namespace", ""), labels.get("pod", ""))
        if key in pods:
            duplicates.add(key)
        pods[key] = value if isfinite(value) and value >= 0 else float("nan")
    return Answer(
        at_seconds=now_seconds,
        pods=pods,
        series_count=len(result.labels),
        duplicates=frozenset(duplicates),
    )


def series_answer(result: InstantResult, now_seconds: float) -> Answer:
    """Return the sum of the series, as an HPA does; unknown where there is none, or one is none."""
    values = result.values.tolist()
    if not values:
        text = f"empty: {result.expression}"
        return replace(_none(now_seconds, DemandState.EMPTY, text), series_count=0)
    if not all(isfinite(value) and value >= 0 for value in values):
        text = f"a sample is not a number of at least 0: {result.expression}"
        return _none(now_seconds, DemandState.NOT_A_NUMBER, text)
    return Answer(at_seconds=now_seconds, value=sum(values), series_count=len(values))


def chunks(requests: Sequence[PastRequest]) -> Iterator[list[PastRequest]]:
    """Yield requests that one query can answer: one source, one kind, names that pods tell."""
    groups: dict[tuple[Source, str], list[PastRequest]] = {}
    for request in requests:
        if isinstance(request.source, PodsSource) and is_groupable(request.workload):
            groups.setdefault((request.source, request.workload.kind), []).append(request)
        else:
            yield [request]
    for group in groups.values():
        group.sort(key=lambda one: (one.workload.namespace, one.workload.name))
        for at in range(0, len(group), CHUNK_WORKLOADS):
            yield group[at : at + CHUNK_WORKLOADS]


def _by_workload(result: RangeResult, chunk: Sequence[PastRequest]) -> dict[object, FloatArray]:
    found = {
        (one.labels.get("namespace", ""), one.labels.get("workload", "")): one.values
        for one in result.series
    }
    nothing = np.full(result.columns, np.nan)
    return {
        one.row: _plausible(found.get((one.workload.namespace, one.workload.name), nothing))
        for one in chunk
    }


def _summed(result: RangeResult) -> FloatArray:
    try:
        return _plausible(combine(result, Combination.SUM).values)
    except InputError:  # no series in that time: nothing is known, which is no failure
        return np.full(result.columns, np.nan)


def _plausible(values: FloatArray) -> FloatArray:
    with np.errstate(invalid="ignore"):
        return np.where((values >= 0) & (values < np.inf), values, np.nan)


def _none(now_seconds: float, state: DemandState, text: str) -> Answer:
    return Answer(at_seconds=now_seconds, state=state, text=text)
