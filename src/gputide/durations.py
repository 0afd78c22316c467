"""Spans of time as people write them: 30s, 15m, 1h, 7d."""

import re

from gputide.errors import SettingError

_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smhdw])")
_SECONDS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


def parse_span(text: str, *, setting: str) -> float:
    """Return seconds, or raise SettingError.

    >>> parse_span("1h30m", setting="ttl")
    5400.0
    """
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise SettingError(setting, f"{text!r} is no span of time, such as 30s, 15m, 1h or 7d")
    return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))


def span(seconds: float) -> str:
    """Return a time as people say it: 43s, 12m, 3h, 2d.

    >>> span(7300)
    '2h'
    """
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "m")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f}{unit}"
    return f"{max(seconds, 0):.0f}s"
