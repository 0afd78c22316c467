"""Kubernetes quantities ("500m", "1k", "2Gi") as numbers."""

import re
from math import isfinite

from gputide.errors import SettingError

FACTORS = {
    "n": 1e-9,
    "u": 1e-6,
    "m": 1e-3,
    "": 1.0,
    "k": 1e3,
    "M": 1e6,
    "G": 1e9,
    "T": 1e12,
    "P": 1e15,
    "E": 1e18,
    "Ki": 2.0**10,
    "Mi": 2.0**20,
    "Gi": 2.0**30,
    "Ti": 2.0**40,
    "Pi": 2.0**50,
    "Ei": 2.0**60,
}
QUANTITY = re.compile(r"(\d+(?:\.\d*)?|\.\d+)(?:([numkMGTPE]|[KMGTPE]i)|[eE]([+-]?\d{1,3}))?")


def parse_quantity(value: float | str, *, setting: str) -> float:
    """Return a quantity as a number of base units, at least 0.

    >>> parse_quantity("500m", setting="averageValue"), parse_quantity("1.5k", setting="value")
    (0.5, 1500.0)
    """
    match = QUANTITY.fullmatch(str(value))
    if match is None:
        raise SettingError(
            setting, f"{str(value)!r} is no quantity; write it as 20, 0.5, 500m or 1k"
        )
    number, suffix, exponent = match.groups()
    parsed = float(f"{number}e{exponent or 0}") * FACTORS[suffix or ""]
    if not isfinite(parsed):
        raise SettingError(setting, f"{str(value)!r} is too large")
    return parsed
