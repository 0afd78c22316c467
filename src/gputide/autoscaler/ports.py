"""What the controller's parts need from each other."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from gputide.autoscaler.model import FloatArray, Key, Outcome, Subject


class Engine(Protocol):
    """Demand, history, forecast and decision for many workloads; owns no Kubernetes client."""

    async def round(self, subjects: Sequence[Subject], *, now_seconds: float) -> Sequence[Outcome]:
        """Return one outcome a subject, in their order. Never raises for a source that fails."""

    def withdraw(self, keys: Sequence[Key], *, now_seconds: float) -> None:
        """Take back what the round at that moment noted as scaled: these writes failed."""

    def save(self) -> Mapping[str, FloatArray | list[str]]:
        """Return the state that must outlive the process (decision memory, keys)."""

    def restore(self, state: Mapping[str, FloatArray | list[str]]) -> None:
        """Take up a saved state; rows that are gone are dropped when the first round comes."""
