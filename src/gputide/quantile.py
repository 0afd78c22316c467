"""Quantiles as people write them."""

from gputide.errors import SettingError


def parse_quantile(value: float, *, setting: str = "quantile") -> float:
    """Return a quantile as a fraction; people write both 95 and 0.95.

    >>> parse_quantile(95), parse_quantile(0.95)
    (0.95, 0.95)
    """
    fraction = value / 100 if value > 1 else float(value)
    if not 0 < fraction < 1:
        raise SettingError(
            setting, f"{value:g} is no quantile: give 0 < q < 1, or percent below 100"
        )
    return fraction
