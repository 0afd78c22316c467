"""Rules where people keep them: a ConfigMap, or the values of a Helm chart, instead of the file."""

from collections.abc import Mapping
from typing import Any

import yaml

from gputide.errors import InputError

VENDOR = ("AlibabaCloudMetricsAdapter", "prometheus", "adapter")
"""Where the values of ack-alibaba-cloud-metrics-adapter keep `rules`."""

UMBRELLA = "prometheus-adapter"
"""Key of the chart's values within those of a chart around it."""

_COMMUNITY = {"default", "custom", "external", "resource", "existing"}
_DEFAULTS = "rules.default: the chart's own rules are not known here; what you need of them, write"


def unwrapped(found: object, place: str) -> tuple[object, tuple[str, ...]]:
    """Return the document in the form of prometheus-adapter's file, and warnings.

    What is neither a ConfigMap nor a chart's values comes back as it is, to be checked as a file.
    Raises InputError for a ConfigMap without one text of rules, and for unknown fields.
    """
    if not isinstance(found, Mapping):
        return found, ()
    inner = _inner(found, place)
    if inner is not None:
        return unwrapped(inner, place)
    is_vendor = VENDOR[0] in found
    rules = _vendor_rules(found, place) if is_vendor else found.get("rules")
    if not isinstance(rules, Mapping):
        return found, ()
    return _of_chart(rules, place, is_vendor=is_vendor)


def _inner(found: Mapping[str, Any], place: str) -> object:
    """Return what a document only wraps; None where it is the one."""
    if found.get("kind") == "ConfigMap":
        return _of_config_map(found, place) or {}
    return found[UMBRELLA] if isinstance(found.get(UMBRELLA), Mapping) else None


def yaml_problem(error: yaml.YAMLError) -> str:
    """Return what is wrong, in one line that says where."""
    mark = getattr(error, "problem_mark", None)
    where = f" at line {mark.line + 1}, column {mark.column + 1}" if mark is not None else ""
    what = getattr(error, "problem", None) or str(error).splitlines()[0]
    return f"is no YAML{where}: {what}"


def _of_config_map(found: Mapping[str, Any], place: str) -> object:
    data = found.get("data")
    if not isinstance(data, Mapping) or len(data) != 1:
        raise InputError(f"{place}: data", "a ConfigMap of rules has one key, with the rules in it")
    key, text = next(iter(data.items()))
    if not isinstance(text, str):
        raise InputError(f"{place}: data.{key}", "must be text: write it after a |")
    try:
        inner = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(f"{place}: data.{key}", yaml_problem(error)) from error
    if isinstance(inner, Mapping) and inner.get("kind") == "ConfigMap":
        raise InputError(f"{place}: data.{key}", "holds another ConfigMap instead of rules")
    return inner


def _vendor_rules(found: Mapping[str, Any], place: str) -> Mapping[str, Any]:
    at: object = found
    for step in (*VENDOR, "rules"):
        at = at.get(step) if isinstance(at, Mapping) else None
    if not isinstance(at, Mapping):
        raise InputError(place, f"has no {'.'.join((*VENDOR, 'rules'))}")
    return at


def _of_chart(
    rules: Mapping[str, Any], place: str, *, is_vendor: bool
) -> tuple[object, tuple[str, ...]]:
    unknown = sorted(str(key) for key in rules if key not in _COMMUNITY)
    if unknown:
        raise InputError(f"{place}: rules.{unknown[0]}", "is no field of the chart's rules")
    if rules.get("existing"):
        problem = f"names the ConfigMap {rules['existing']!r}: give that one instead"
        raise InputError(f"{place}: rules.existing", problem)
    custom = rules.get("custom") or []
    external = rules.get("external") or (custom if is_vendor else [])
    made = {"rules": custom, "externalRules": external, "resourceRules": rules.get("resource")}
    return made, (f"{_DEFAULTS} under rules.custom",) if rules.get("default") else ()
