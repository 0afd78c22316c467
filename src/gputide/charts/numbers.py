"""Numbers as people read them."""

from math import floor, isfinite, log10

import numpy as np

from gputide.charts.model import FloatArray

UNKNOWN = "\N{EN DASH}"


def number(value: float | None, *, digits: int = 3, unknown: str = UNKNOWN) -> str:
    """Return a number with that many significant digits, or a dash where unknown.

    >>> number(1234.5), number(12.345), number(0.000123), number(20.0)
    ('1,234', '12.3', '0.000123', '20')
    """
    if value is None or not isfinite(value):
        return unknown
    if value == 0:
        return "0"
    decimals = max(digits - 1 - floor(log10(abs(value))), 0)
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def percent(ratio: float | None, *, decimals: int = 2, unknown: str = UNKNOWN) -> str:
    """Return a ratio as percent; what would round to 0 but is not says so.

    >>> percent(0.0123), percent(0.0), percent(0.00001)
    ('1.23 %', '0 %', '<0.01 %')
    """
    if ratio is None or not isfinite(ratio):
        return unknown
    value = 100 * ratio
    if value == 0:
        return "0 %"
    if 0 < value < 0.5 * 10**-decimals:
        return f"<{10**-decimals:.{decimals}f} %"
    return f"{value:.{decimals}f} %"


def rounded(values: FloatArray, *, digits: int = 5) -> list[float]:
    """Return the values to so many significant digits: what a pixel can show, in fewer bytes."""
    with np.errstate(divide="ignore", invalid="ignore"):
        magnitude = np.where(values == 0, 0.0, np.floor(np.log10(np.abs(values))))
    exponent = np.nan_to_num(digits - 1 - magnitude, nan=0.0, posinf=0.0, neginf=0.0)
    scale = 10.0 ** np.clip(exponent, -300, 300)  # no overflow for the tiniest
    return list(map(float, np.round(values * scale) / scale))
