"""Where demand comes from."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from gputide.autoscaler.demand.model import Answer, ApiSource, FloatArray, Past, PastRequest, Source


class DemandSource(Protocol):
    """Prometheus, with the metrics API behind it. Methods never raise for a source that fails."""

    async def read(
        self, sources: Sequence[Source], *, now_seconds: float
    ) -> Mapping[Source, Answer]:
        """Return what each source says now."""

    async def past(
        self, requests: Sequence[PastRequest], *, start_seconds: int, end_seconds: int
    ) -> Past:
        """Return the past of some workloads, every minute of [start, end]."""

    async def past_pods(
        self, request: PastRequest, *, start_seconds: int, end_seconds: int
    ) -> FloatArray | None:
        """Return how many pods the workload had each minute `[T]`; None where nobody knows."""


class MetricsApi(Protocol):
    """Kubernetes' external and custom metrics APIs."""

    async def read(self, source: ApiSource, *, now_seconds: float) -> Answer:
        """Return what the API says; never raises."""
