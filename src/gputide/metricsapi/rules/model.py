"""One rule: which series it takes, what they are called, what they belong to, how to ask."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.expand import expand
from gputide.metricsapi.rules.regex import MAX_NAME_LENGTH
from gputide.metricsapi.rules.resources import known_kind
from gputide.metricsapi.rules.template import Template


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """A rule of the section `rules` or `externalRules`."""

    place: str
    """`externalRules[2]`, for errors and explanations."""

    series_query: str
    metrics_query: Template
    filters: tuple[tuple[re.Pattern[str], bool], ...] = ()
    """Patterns on the series' name, each with whether it has to be found."""

    name_matches: re.Pattern[str] = re.compile(".*")
    name_as: str = "$0"
    overrides: Mapping[str, Resource] = field(default_factory=dict)
    """Label -> resource."""

    label_template: Template | None = None
    is_namespaced: bool = True

    def refusal(self, series: str) -> str:
        """Return what keeps a series of that name out; "" where the rule takes it."""
        if len(series) > MAX_NAME_LENGTH:
            return f"a name of more than {MAX_NAME_LENGTH} characters"
        for index, (pattern, is_wanted) in enumerate(self.filters):
            if bool(pattern.search(series)) is not is_wanted:
                return f"seriesFilters[{index}] ({'is' if is_wanted else 'isNot'})"
        return "" if self.api_name(series) else "name.matches"

    def takes(self, series: str) -> bool:
        """Whether a series of that name passes the filters and has a name in the API."""
        return not self.refusal(series)

    def api_name(self, series: str) -> str:
        """Return what the API calls a series: `as`, filled in from the first match."""
        match = self.name_matches.search(series)
        return "" if match is None else expand(self.name_as, match)

    def label_of(self, resource: Resource, singular: str) -> str | None:
        """Return the label that holds a resource's names; None where the rule has none."""
        for label, one in self.overrides.items():
            is_alike = not one.group and one.plural == resource.plural
            if one == resource or (is_alike and known_kind(one.plural) is None):
                return label  # of somebody's own kind its group may be left out
        if self.label_template is None:
            return None
        group = resource.group.replace(".", "_").replace("-", "_")
        return self.label_template.render({"Group": group, "Resource": singular})

    def resource_of(self, label: str) -> Resource | None:
        """Return the resource whose names a label holds, as far as its name tells."""
        if label in self.overrides:
            return self.overrides[label]
        if self.label_template is None:
            return None
        match = _label_pattern(self.label_template.text).fullmatch(label)
        if match is None:
            return None
        name, group = match["resource"], match.groupdict().get("group") or ""
        kind = known_kind(name, group)
        if kind is not None:
            return kind.resource
        # without a group any label would do: `instance`, `job_name`, `UUID`
        return Resource(plural=plural(name), group=group.replace("_", ".")) if group else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """A rules file."""

    custom: tuple[Rule, ...] = ()
    external: tuple[Rule, ...] = ()
    warnings: tuple[str, ...] = ()
    """What the file says that has no effect here."""


_PLURALS = {"endpoints": "endpoints", "ingress": "ingresses"}


def plural(name: str) -> str:
    """Return a resource's plural; one that is plural already stays.

    >>> [plural(one) for one in ("pod", "pods", "ingress", "networkpolicy", "endpoints")]
    ['pods', 'pods', 'ingresses', 'networkpolicies', 'endpoints']
    """
    if name in _PLURALS:
        return _PLURALS[name]
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    if name.endswith(("ss", "x", "ch", "sh")):
        return f"{name}es"
    return name if name.endswith("s") else f"{name}s"


def _label_pattern(text: str) -> "re.Pattern[str]":
    """Return a pattern that takes labels made by a template apart; no group: the core group."""
    pattern = re.escape(text)
    pattern = re.sub(r"<<\s*(?:\\ )*\\\.Group(?:\\ )*\s*>>", "(?P<group>[a-zA-Z0-9_]*?)", pattern)
    name = "(?P<resource>[a-zA-Z0-9]+)"
    return re.compile(re.sub(r"<<\s*(?:\\ )*\\\.Resource(?:\\ )*\s*>>", name, pattern))
