"""Reading single fields of the resource: every refusal names the path of the field."""

import re
from collections.abc import Sequence
from enum import StrEnum
from typing import TypeVar

from gputide.errors import SettingError
from gputide.scaling.quantity import parse_quantity

Choice = TypeVar("Choice", bound=StrEnum)


class MetricKind(StrEnum):
    """Where a metric comes from."""

    RESOURCE = "Resource"
    EXTERNAL = "External"
    PODS = "Pods"


class TargetKind(StrEnum):
    """What a metric's target is compared with."""

    UTILIZATION = "Utilization"
    """The share of what the pods may use."""

    AVERAGE_VALUE = "AverageValue"
    """The total divided by the pods."""

    VALUE = "Value"
    """The value itself."""


TARGETS_OF = {
    MetricKind.RESOURCE: (TargetKind.UTILIZATION, TargetKind.AVERAGE_VALUE),
    MetricKind.EXTERNAL: (TargetKind.AVERAGE_VALUE, TargetKind.VALUE),
    MetricKind.PODS: (TargetKind.AVERAGE_VALUE,),
}


def named(message: str) -> SettingError:
    """Return a decoder's message as one of ours, led by the path of the field."""
    text, _, tail = " ".join(message.split()).partition(" - at `$")  # keys may hold line ends
    path = tail.removesuffix("`").lstrip(".")
    unknown = re.fullmatch(r"Object contains unknown field `(.*)`", text)
    missing = re.fullmatch(r"Object missing required field `(.*)`", text)
    for match, problem in ((unknown, "is no field of this object"), (missing, "is missing")):
        if match is not None:
            return SettingError(".".join(filter(None, (path, match[1]))), problem)
    return SettingError(path or "object", text[:1].lower() + text[1:])


def choice(
    options: type[Choice], text: str, path: str, allowed: Sequence[Choice] | None = None
) -> Choice:
    """Return the option of that name, or say which there are."""
    allowed = tuple(options) if allowed is None else allowed
    for option in allowed:
        if option.value == text:
            return option
    names = ", ".join(option.value for option in allowed)
    raise SettingError(path, f"{text!r} is none of {names}")


def within(value: float, path: str, *, least: float = 0, most: float) -> float:
    """Return a number that lies in a range; NaN lies in none."""
    if not least <= value <= most:
        raise SettingError(path, f"must be {least:g} to {most:g}, is {value:g}")
    return float(value)


def amount(value: float | str | None, kind: TargetKind, path: str) -> float:
    """Return a target above 0: a ratio for Utilization, which is written in percent."""
    parsed = parse_quantity("" if value is None else value, setting=path)
    if parsed == 0:
        raise SettingError(path, "must be above 0")
    return parsed / 100 if kind is TargetKind.UTILIZATION else parsed
