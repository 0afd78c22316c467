"""prometheus-adapter's configuration file, parsed and checked."""

import re
from collections.abc import Sequence
from typing import Any

import msgspec
import yaml

from gputide.errors import InputError
from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.chart import unwrapped, yaml_problem
from gputide.metricsapi.rules.model import Rule, Rules, plural
from gputide.metricsapi.rules.regex import compile_go
from gputide.metricsapi.rules.resources import known_kind
from gputide.metricsapi.rules.template import Template, parse_template

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
    overrides: dict[str, _GroupResource] | None = None
    namespaced: bool = True


class _Name(_Wire, frozen=True, kw_only=True):
    matches: str = ""
    as_: str = msgspec.field(name="as", default="")


class _Rule(_Wire, frozen=True, kw_only=True):
    series_query: str
    metrics_query: str = "sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)"
    series_filters: tuple[_Filter, ...] | None = None
    resources: _Resources | None = None
    name: _Name | None = None


class _File(_Wire, frozen=True, kw_only=True):
    rules: tuple[_Rule, ...] | None = None
    external_rules: tuple[_Rule, ...] | None = None
    resource_rules: dict[str, Any] | None = None


def parse_rules(text: str, place: str) -> Rules:
    """Return a file's rules; raise InputError, one line that names file, rule and field."""
    try:
        found, warnings = unwrapped(yaml.safe_load(text), place)
        file = msgspec.convert({} if found is None else found, _File)
    except yaml.YAMLError as error:
        raise InputError(place, yaml_problem(error)) from error
    except msgspec.ValidationError as error:
        raise InputError(place, str(error)) from error
    except RecursionError as error:
        raise InputError(place, "is nested too deep") from error
    rules, external = file.rules or (), file.external_rules or ()
    if len(rules) + len(external) > MAX_RULES:
        raise InputError(place, f"has more than {MAX_RULES} rules")
    if file.resource_rules:
        unserved = "resourceRules: metrics.k8s.io is not served here; use metrics-server"
        warnings = (*warnings, unserved)
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
        found = one.resources or _Resources()
        has_resource = bool(found.template or found.overrides)
        if needs_resource and not has_resource:
            raise InputError(f"{file}: {place}.resources", "needs a template or overrides")
        made.append(_rule(one, file, place))
    return tuple(made)


def _rule(one: _Rule, file: str, place: str) -> Rule:
    where = f"{file}: {place}"
    resources, name = one.resources or _Resources(), one.name or _Name()
    matches = compile_go(name.matches or ".*", f"{where}.name.matches")
    for field, text in (("seriesQuery", one.series_query), ("metricsQuery", one.metrics_query)):
        if not text.strip():
            raise InputError(f"{where}.{field}", "is empty")
    return Rule(
        place=place,
        series_query=one.series_query,
        metrics_query=parse_template(
            one.metrics_query, known=QUERY_FIELDS, place=f"{where}.metricsQuery"
        ),
        filters=tuple(
            _filter(found, f"{where}.seriesFilters[{index}]")
            for index, found in enumerate(one.series_filters or ())
        ),
        name_matches=matches,
        name_as=name.as_ or _default_name(matches, f"{where}.name.as"),
        overrides={label: _resource(found) for label, found in (resources.overrides or {}).items()},
        label_template=_label_template(resources.template, f"{where}.resources.template"),
        is_namespaced=resources.namespaced,
    )


def _resource(found: _GroupResource) -> Resource:
    kind = known_kind(found.resource, found.group)
    if kind is not None:
        return kind.resource
    return Resource(plural=plural(found.resource.lower()), group=found.group)


def _label_template(text: str, place: str) -> Template | None:
    if not text:
        return None
    template = parse_template(text, known=LABEL_FIELDS, place=place)
    if "Resource" not in template.fields:
        raise InputError(place, "needs <<.Resource>>")
    return template


def _filter(one: _Filter, place: str) -> tuple[re.Pattern[str], bool]:
    if bool(one.is_) == bool(one.is_not):
        raise InputError(place, "each needs exactly one of is and isNot")
    return compile_go(one.is_ or one.is_not, place), bool(one.is_)


def _default_name(matches: re.Pattern[str], place: str) -> str:
    if matches.groups > 1:
        raise InputError(place, "missing: which of the groups of name.matches is the name?")
    return f"${matches.groups}"
