"""Why a metric has, or has not, values: rule by rule, with the PromQL that is sent."""

from collections.abc import Iterator, Sequence

from gputide.clock import Clock
from gputide.errors import QueryError
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject
from gputide.metricsapi.external import item
from gputide.metricsapi.ports import CustomAsk, Resource
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.query import (
    NAMESPACES,
    Query,
    RuleValues,
    custom_query,
    external_query,
    untold,
    whole_query,
)
from gputide.metricsapi.rules.model import Rule
from gputide.metricsapi.series import Series, SeriesIndex, name_selector

SHOWN = 5
ANY = "NAME"
"""Stands for an object's name in a query that is shown."""


class RuleExplainer:
    """Asks Prometheus about each rule in turn, whatever is known from before."""

    def __init__(
        self,
        index: SeriesIndex,
        source: Source,
        asked: RuleValues,
        clock: Clock,
        *,
        max_age_seconds: float,
    ) -> None:
        self._index = index
        self._source = source
        self._values = asked
        self._clock = clock
        self._max_age_seconds = max_age_seconds

    async def explain(self, metric: str, namespace: str) -> JsonObject:
        """Return a row a rule; the first rule that has the metric is the one that is used."""
        rules = self._index.rules
        custom = [await self._custom(rule, metric, namespace) for rule in rules.custom]
        external = [await self._external(rule, metric, namespace) for rule in rules.external]
        return {
            "metric": metric,
            "namespace": namespace,
            "verdict": _verdict(custom, external),
            "rules": [*custom, *external],
            "warnings": list(rules.warnings),
        }

    async def _custom(self, rule: Rule, metric: str, namespace: str) -> JsonObject:
        row, series = await self._series(rule, metric)
        for one in series[:1]:
            resources = list(_resources(one))
            row["resources"] = [resource.qualified for resource, _ in resources]
            if not resources:
                row["problem"] = (
                    "no label of the series names a resource; it has "
                    f"{', '.join(sorted(one.labels))}"
                )
            for resource, label in resources:
                try:
                    asked = custom_query(one, _asking(resource, metric, namespace), label)
                    row.setdefault("queries", []).append(asked.expression)
                    query = whole_query(one, resource, namespace, label)
                    await self._add(row, query, metric, resource.qualified)
                except (StatusError, QueryError) as error:
                    row["problem"] = str(error)
        return row

    async def _external(self, rule: Rule, metric: str, namespace: str) -> JsonObject:
        row, series = await self._series(rule, metric)
        for one in series[:1]:
            try:
                query = external_query(one, namespace, "")
                row["queries"] = [query.expression]
                await self._add(row, query, metric)
            except (StatusError, QueryError) as error:
                row["problem"] = str(error)
        return row

    async def _add(self, row: JsonObject, query: Query, metric: str, resource: str = "") -> None:
        """Ask, and write down what Prometheus answers and how old it is; raise QueryError."""
        answer = await self._values.ask(query)
        now = self._clock.now_seconds()
        shown = [
            item(metric, one) | {"ageSeconds": round(max(0.0, now - one.at_seconds))}
            for one in answer.told[:SHOWN]
        ]
        if resource:
            shown = [
                {"object": f"{resource}/{one['metricLabels'].get(query.group_by, '')}", **one}
                for one in shown
            ]
        row["values"] = [*row.get("values", ()), *shown]
        row["valuesFound"] = row.get("valuesFound", 0) + len(answer.told)
        why = untold(answer)
        if not answer.told:
            why = why or "the query has no result: no sample, or no series of the namespace"
        if why:
            told = f"{resource}: {why}" if resource else why
            row["problem"] = f"{row['problem']}; {told}" if "problem" in row else told

    async def _series(self, rule: Rule, metric: str) -> tuple[JsonObject, list[Series]]:
        """Return the row's beginning, and the rule's series that the API calls so."""
        row: JsonObject = {"rule": rule.place, "seriesQuery": rule.series_query}
        now = self._clock.now_seconds()
        span = (now - self._max_age_seconds, now)
        try:
            names = await self._source.names(rule.series_query, span)
            taken = [name for name in names if rule.takes(name)]
            called = [name for name in taken if rule.api_name(name) == metric]
            made = [
                Series(
                    rule,
                    name,
                    frozenset(await self._source.label_names(name_selector(rule, name), span)),
                )
                for name in called[:SHOWN]
            ]
        except QueryError as error:
            return row | {"problem": str(error)}, []
        row["seriesFound"] = len(names)
        row["series"] = [{"name": one.name, "labels": sorted(one.labels)} for one in made]
        if not made:
            row["problem"] = _why(rule, metric, names, taken)
        return row, made


def lines(explained: JsonObject) -> Iterator[str]:
    """Yield an explanation as a person reads it."""
    yield f"{explained['metric']}: {explained['verdict']}"
    yield from (f"  {warning}" for warning in explained["warnings"])
    for row in explained["rules"]:
        yield f"{row['rule']}  {row['seriesQuery']}"
        yield from (f"  {line}" for line in _row_lines(row))


def _row_lines(row: JsonObject) -> Iterator[str]:
    facts = {
        "series names found": row.get("seriesFound"),
        "resources": ", ".join(row.get("resources", ())) or None,
        "values": row.get("valuesFound"),
        "problem": row.get("problem"),
    }
    for one in row.get("series", ()):
        yield f"series: {one['name']}, labels {', '.join(one['labels'])}"
    yield from (f"query: {query}" for query in row.get("queries", ()))
    yield from (f"{name}: {fact}" for name, fact in facts.items() if fact is not None)
    for one in row.get("values", ()):
        what = one.get("object") or one["metricLabels"]
        yield f"  {one['value']} at {one['timestamp']}, {one['ageSeconds']} s old: {what}"


def _verdict(custom: Sequence[JsonObject], external: Sequence[JsonObject]) -> str:
    """Return which rules have the metric, each API by itself: the first one counts."""
    parts = []
    for kind, rows in (("objects", custom), ("external metrics", external)):
        having = [row["rule"] for row in rows if row.get("series")]
        if having:
            others = ", ".join(having[1:])
            after = f" (before {others}, which have it, too)" if others else ""
            parts.append(f"{having[0]} has it for {kind}{after}")
    return "; ".join(parts) or "no rule has it"


def _why(rule: Rule, metric: str, names: Sequence[str], taken: Sequence[str]) -> str:
    if not names:
        return "seriesQuery matches no series of late: is it scraped, are its labels so?"
    if not taken:
        kept_out = [f"{name} by {rule.refusal(name)}" for name in names]
        return f"none of its series is taken: {_some(kept_out)}"
    called = [rule.api_name(name) for name in taken]
    return f"its series are called {_some(called)} here, none of them {metric}"


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return ", ".join(names[:SHOWN]) + more


def _resources(series: Series) -> Iterator[tuple[Resource, str]]:
    for label in sorted(series.labels):
        resource = series.rule.resource_of(label)
        if resource is not None:
            yield resource, label


def _asking(resource: Resource, metric: str, namespace: str) -> CustomAsk:
    name = namespace if resource == NAMESPACES else ANY
    return CustomAsk(resource=resource, namespace=namespace, names=(name,), metric=metric)
