"""Families to bytes, in text format 0.0.4 and in OpenMetrics 1.0."""

from collections.abc import Iterable
from enum import StrEnum
from math import isfinite, isnan

from gputide.exposition.model import Family, Kind, Labels, Sample

EXACT_INTEGERS = 2.0**53
"""Above it a float no longer holds every integer, so that printing one would claim too much."""


class Format(StrEnum):
    """A format by its media type."""

    TEXT = "text/plain; version=0.0.4; charset=utf-8"
    OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"


def escape_label(value: str) -> str:
    r"""Return a label value as it stands between the quotes.

    >>> print(escape_label('a "b"\\c'))
    a \"b\"\\c
    """
    return value.replace("\\", r"\\").replace("\n", r"\n").replace('"', r"\"")


def escape_help(text: str, target: Format = Format.TEXT) -> str:
    """Return a HELP text on one line; OpenMetrics escapes quotes there too."""
    if target is Format.OPENMETRICS:
        return escape_label(text)
    return text.replace("\\", r"\\").replace("\n", r"\n")


def format_value(value: float) -> str:
    """Return a value as Go's and Prometheus' parsers read it, as short as it is exact.

    >>> format_value(3.0), format_value(0.25), format_value(float("inf"))
    ('3', '0.25', '+Inf')
    """
    if isnan(value):
        return "NaN"
    if not isfinite(value):
        return "+Inf" if value > 0 else "-Inf"
    if value == int(value) and abs(value) <= EXACT_INTEGERS:
        return str(int(value))
    return repr(float(value))


def prefix(name: str, labels: Labels) -> str:
    """Return `name{labels} `: everything of a line before its value."""
    if not labels:
        return f"{name} "
    inner = ",".join([f'{label}="{escape_label(value)}"' for label, value in labels])
    return f"{name}{{{inner}}} "


def header(family: Family, target: Format = Format.TEXT) -> str:
    """Return the HELP and TYPE lines.

    OpenMetrics wants counters to end in `_total`. A counter whose name does not (DCGM's) is
    declared `unknown` there, because a name must not depend on what a scraper accepts.
    """
    name, kind = family.name, str(family.kind)
    if target is Format.TEXT:
        if family.kind in {Kind.UNKNOWN, Kind.INFO, Kind.STATE_SET, Kind.GAUGE_HISTOGRAM}:
            kind = "untyped" if family.kind in {Kind.UNKNOWN, Kind.GAUGE_HISTOGRAM} else "gauge"
    elif family.kind is Kind.COUNTER:
        name, kind = (
            (name[: -len("_total")], kind) if name.endswith("_total") else (name, "unknown")
        )
    elif family.kind is Kind.INFO:
        name = name.removesuffix("_info")
    return f"# HELP {name} {escape_help(family.help, target)}\n# TYPE {name} {kind}\n"


def render(families: Iterable[Family], target: Format = Format.TEXT) -> bytes:
    """Return the page of those families, in their order."""
    parts: list[str] = []
    for family in families:
        parts.append(header(family, target))
        parts.extend(_line(sample, target) for sample in family.samples)
    if target is Format.OPENMETRICS:
        parts.append("# EOF\n")
    return "".join(parts).encode("utf-8", "replace")


def _line(sample: Sample, target: Format) -> str:
    line = prefix(sample.name, sample.labels) + format_value(sample.value)
    if sample.timestamp_seconds is None:
        return line + "\n"
    if target is Format.OPENMETRICS:
        return f"{line} {sample.timestamp_seconds:.3f}\n"
    return f"{line} {round(sample.timestamp_seconds * 1000)}\n"
