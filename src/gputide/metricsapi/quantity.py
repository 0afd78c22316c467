"""Numbers as Kubernetes' quantities, canonical. Pure."""

from decimal import ROUND_CEILING, ROUND_FLOOR, ROUND_HALF_EVEN, Decimal
from math import isfinite

SUFFIXES = ((18, "E"), (15, "P"), (12, "T"), (9, "G"), (6, "M"), (3, "k"), (0, ""), (-3, "m"),
            (-6, "u"), (-9, "n"))  # fmt: skip
LARGEST = 2**63 - 1
_MILLI, _NANO = Decimal("0.001"), Decimal("0.000000001")


def quantity(value: float) -> str | None:
    """Return a number without a fraction and with the largest suffix; None where there is none.

    From 1 on it is rounded to thousandths, which is all that an HPA sees; below to 9 digits, away
    from zero as Kubernetes rounds, so that something never becomes nothing (12 digits count, so
    that 0.1 + 0.2 stays 300m).

    >>> [quantity(one) for one in (20, 1.5, 0.033, 1500, 2000, 1e6, 0, -2.5)]
    ['20', '1500m', '33m', '1500', '2k', '1M', '0', '-2500m']
    """
    if not isfinite(value):
        return None
    exact = Decimal(f"{value:.12g}" if abs(value) < 1 else repr(float(value)))
    if abs(exact) > LARGEST:
        return None
    if abs(exact) >= 1:
        rounded = exact.quantize(_MILLI, ROUND_HALF_EVEN)
    else:
        rounded = exact.quantize(_NANO, ROUND_CEILING if exact > 0 else ROUND_FLOOR)
    if not rounded:
        return "0"
    for exponent, suffix in SUFFIXES:
        scaled = rounded.scaleb(-exponent)
        if scaled == scaled.to_integral_value():
            return f"{int(scaled)}{suffix}"
    raise AssertionError("unreachable: nothing is finer than nano")
