"""What a GPU does not give, and why; remembered, so that it is not asked for every time."""

from collections.abc import Iterable, Mapping

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Field
from gputide.exporter.nvml.driver import is_lasting, reason

REMEMBERED_SECONDS = 3600.0
"""Then it is asked again: modes and permissions do change."""


class Support:
    """One GPU's refusals."""

    def __init__(self, *, now_seconds: float) -> None:
        self._lasting: dict[Field, str] = {}
        self._passing: dict[Field, str] = {}
        self._since_seconds = now_seconds

    def begin(self, *, now_seconds: float) -> None:
        """Start a reading: what passed is forgotten, and after an hour the rest."""
        self._passing.clear()
        if now_seconds - self._since_seconds >= REMEMBERED_SECONDS:
            self.forget(now_seconds=now_seconds)

    def forget(self, *, now_seconds: float) -> None:
        """Ask for everything again."""
        self._lasting.clear()
        self._since_seconds = now_seconds

    def skips(self, fields: Iterable[Field]) -> bool:
        """Return whether all of the fields were refused for a while."""
        return all(field in self._lasting for field in fields)

    def refuse(self, fields: Iterable[Field], error: pynvml.NVMLError) -> None:
        """Take note that the driver does not give the fields."""
        target = self._lasting if is_lasting(error) else self._passing
        target.update(dict.fromkeys(fields, reason(error)))

    def explain(self, fields: Iterable[Field], why: str, *, is_lasting: bool = True) -> None:
        """Take note of a reason of our own."""
        target = self._lasting if is_lasting else self._passing
        target.update(dict.fromkeys(fields, why))

    def reasons(self) -> Mapping[Field, str]:
        """Return all that is not given now, with the reasons."""
        return {**self._lasting, **self._passing}
