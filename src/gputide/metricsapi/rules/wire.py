"""prometheus-adapter's configuration file, parsed and checked."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import yaml

from gputide.errors import InputError
from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.model import Rule, Rules, plural
from gputide.metricsapi.rules.template import parse_template

QUERY_FIELDS = ("Series", "LabelMatchers", "GroupBy", "LabelValuesByName", "GroupBySlice")
LABEL_FIELDS = ("Group", "Resource")
MAX_RULES = 1000


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Fields in camelCase; an unknown one is a mistake."""


class _Filter(_Wire, frozen=True, kw_only=True):
    is_: str = msgspec.field(name="is", default="")
    is_not: str = ""


class _GroupResource(_Wire, frozen=True, kw_only=True):
    resource: str
    group: str = ""


class _Resources(_Wire, frozen=True, kw_only=True):
    template: str = ""
    overrides: dict[str, _GroupResource] = {}
    namespaced: bool = True


class _Name(_Wire, frozen=True, kw_only=True):
    matches: str = ""
    as_: str = msgspec.field(name="as", default="")


class _Rule(_Wire, frozen=True, kw_only=True):
    series_query: str
    metrics_query: str = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    series_filters: tuple[_Filter, ...] = ()
    resources: _Resources = _Resources()
    name: _Name = _Name()


class _File(_Wire, frozen=True, kw_only=True):
    rules: tuple[_Rule, ...] | None = None
    external_rules: tuple[_Rule, ...] | None = None
    resource_rules: dict[str, Any] | None = None


def parse_rules(text: str, place: str) -> Rules:
    """Return a file's rules; raise InputError, one line that names file, rule and field."""
    try:
        found = yaml.safe_load(text)
        file = msgspec.convert({} if found is None else found, _File)
    except yaml.YAMLError as error:
        raise InputError(place, f"is no YAML: {error}") from error
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error
    except RecursionError as error:
        raise InputError(place, "is nested too deep") from error
    rules, external = file.rules or (), file.external_rules or ()
    if len(rules) + len(external) > MAX_RULES:
        raise InputError(place, f"has more than {MAX_RULES} rules")
    warnings: tuple[str, ...] = ()
    if file.resource_rules:
        warnings = ("resourceRules: metrics.k8s.io is not served here; use metrics-server",)
    return Rules(
        custom=_all(rules, place, "rules", needs_resource=True),
        external=_all(external, place, "externalRules", needs_resource=False),
        warnings=warnings,
    )


def _all(
    rules: Sequence[_Rule], file: str, section: str, *, needs_resource: bool
) -> tuple[Rule, ...]:
    made = []
    for index, one in enumerate(rules):
        place = f"{section}[{index}]"
        has_resource = bool(one.resources.template or one.resources.overrides)
        if needs_resource and not has_resource:
            raise InputError(f"{file}: {place}.resources", "needs a template or overrides")
        made.append(_rule(one, file, place))
    return tuple(made)


def _rule(one: _Rule, file: str, place: str) -> Rule:
    where = f"{file}: {place}"
    template = None
    if one.resources.template:
        template = parse_template(
            one.resources.template, known=LABEL_FIELDS, place=f"{where}.resources.template"
        )
        if "Resource" not in template.fields:
            raise InputError(f"{where}.resources.template", "needs <<.Resource>>")
    matches = _pattern(one.name.matches or ".*", f"{where}.name.matches")
    if not one.series_query.strip():
        raise InputError(f"{where}.seriesQuery", "is empty")
    return Rule(
        place=place,
        series_query=one.series_query,
        metrics_query=parse_template(
            one.metrics_query, known=QUERY_FIELDS, place=f"{where}.metricsQuery"
        ),
        filters=tuple(_filter(f, f"{where}.seriesFilters") for f in one.series_filters),
        name_matches=matches,
        name_as=one.name.as_ or _default_name(matches, f"{where}.name.as"),
        overrides={
            label: Resource(plural=plural(found.resource.lower()), group=found.group)
            for label, found in one.resources.overrides.items()
        },
        label_template=template,
        is_namespaced=one.resources.namespaced,
    )


def _filter(one: _Filter, place: str) -> tuple[re.Pattern[str], bool]:
    if bool(one.is_) == bool(one.is_not):
        raise InputError(place, "each needs exactly one of is and isNot")
    return _pattern(one.is_ or one.is_not, place), bool(one.is_)


def _default_name(matches: re.Pattern[str], place: str) -> str:
    if matches.groups > 1:
        raise InputError(place, "missing: which of the groups of name.matches is the name?")
    return f"${matches.groups}"


def _pattern(text: str, place: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(place, f"{text!r} is no regular expression: {error}") from error
