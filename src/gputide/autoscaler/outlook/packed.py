"""Fitted forecasters at half their size: what a day's seasons hold needs three digits."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from gputide.forecast.lead import LeadForecaster


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PackedForecaster:
    """A forecaster whose seasons are kept as float16: in units of the mean, so none is out of it.

    A bound changes by at most a thousandth. Halves what ten thousand workloads take.
    """

    forecaster: LeadForecaster
    is_packed: bool

    @classmethod
    def pack(cls, forecaster: LeadForecaster) -> "PackedForecaster":
        """Return the small form; the full one where a value would be out of range."""
        small = _cast(forecaster.seasons, np.float16)
        is_safe = all(
            np.array_equal(np.isfinite(a), np.isfinite(b))
            for a, b in zip(_arrays(forecaster.seasons), _arrays(small), strict=True)
        )
        if not is_safe:
            return cls(forecaster=forecaster, is_packed=False)
        return cls(forecaster=replace(forecaster, seasons=small), is_packed=True)

    def unpack(self) -> LeadForecaster:
        """Return the forecaster to issue with."""
        if not self.is_packed:
            return self.forecaster
        return replace(self.forecaster, seasons=_cast(self.forecaster.seasons, np.float32))


def _arrays(seasons: Any) -> list[Any]:  # noqa: ANN401  a struct of arrays
    values = [getattr(seasons, one.name) for one in fields(seasons)]
    return [value for value in values if isinstance(value, np.ndarray)]


def _cast(seasons: Any, dtype: type[np.floating[Any]]) -> Any:  # noqa: ANN401  the same struct
    changed = {}
    for one in fields(seasons):
        value = getattr(seasons, one.name)
        if isinstance(value, np.ndarray) and np.issubdtype(value.dtype, np.floating):
            with np.errstate(over="ignore"):
                changed[one.name] = value.astype(dtype)
    return replace(seasons, **changed)
