"""How long ago something was, in the words of kubectl."""

from datetime import datetime

UNKNOWN = "<unknown>"


def age(time: str | None, now_seconds: float) -> str:
    """Return the age of an RFC 3339 time.

    >>> age("1970-01-01T00:00:00Z", 3 * 3600 + 125)
    '3h2m'
    """
    if not time:
        return UNKNOWN
    try:
        moment = datetime.fromisoformat(time)
    except (TypeError, ValueError):
        return "<invalid>"
    if moment.tzinfo is None:
        return "<invalid>"
    return human_duration(now_seconds - moment.timestamp())


def human_duration(seconds: float) -> str:
    """Return a span as kubectl prints it: two units where the first one is small.

    >>> [human_duration(s) for s in (0.4, 119, 600, 605, 11 * 3600, 9 * 86400, 800 * 86400)]
    ['0s', '119s', '10m', '10m', '11h', '9d', '2y70d']
    """
    if seconds < -1:
        return "<invalid>"
    whole = max(int(seconds), 0)
    minutes, hours, days = whole // 60, whole // 3600, whole // 86400
    years = days // 365
    steps = (
        (whole < 120, f"{whole}s"),
        (minutes < 10, _two(minutes, "m", whole % 60, "s")),
        (minutes < 180, f"{minutes}m"),
        (hours < 8, _two(hours, "h", minutes % 60, "m")),
        (hours < 48, f"{hours}h"),
        (hours < 192, _two(days, "d", hours % 24, "h")),
        (days < 730, f"{days}d"),
        (years < 8, _two(years, "y", days % 365, "d")),
    )
    return next((text for is_so, text in steps if is_so), f"{years}y")


def _two(first: int, unit: str, second: int, smaller: str) -> str:
    return f"{first}{unit}{second}{smaller}" if second else f"{first}{unit}"
