"""Prometheus behind the rules, every question counted."""

from gputide.errors import QueryError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.model import InstantResult


class Source:
    """What the rules ask of Prometheus; each method raises QueryError."""

    def __init__(self, prometheus: Prometheus) -> None:
        self._prometheus = prometheus
        self.queries = 0
        self.failures = 0

    @property
    def target(self) -> str:
        """The address without secrets."""
        return self._prometheus.target

    async def query(self, expression: str) -> InstantResult:
        """Return the newest values."""
        self.queries += 1
        try:
            return await self._prometheus.query(expression)
        except QueryError:
            self.failures += 1
            raise

    async def names(self, selector: str, span: tuple[float, float]) -> tuple[str, ...]:
        """Return the metric names of a selector's series within a span."""
        self.queries += 1
        try:
            return await self._prometheus.label_values("__name__", [selector], span=span)
        except QueryError:
            self.failures += 1
            raise

    async def label_names(self, selector: str, span: tuple[float, float]) -> tuple[str, ...]:
        """Return the label names of a selector's series within a span."""
        self.queries += 1
        try:
            return await self._prometheus.label_names([selector], span=span)
        except QueryError:
            self.failures += 1
            raise
