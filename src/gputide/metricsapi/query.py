"""The rules as sources: a question becomes one PromQL query, its answer values."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.ports import CustomAsk, CustomRow, ExternalAsk, Measured, Resource
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.questions import no_metric
from gputide.metricsapi.rules.model import Rule
from gputide.metricsapi.rules.resources import is_namespaced
from gputide.metricsapi.rules.selector import Matcher, among, matchers, values_by_label
from gputide.metricsapi.series import Series, SeriesIndex
from gputide.metricsapi.values import Values, label_names, stamped, values, window_of
from gputide.prometheus.failures import RefusedError
from gputide.prometheus.model import STALENESS_SECONDS, InstantResult

NAMESPACES = Resource(plural="namespaces")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One PromQL query, as a rule makes it."""

    expression: str
    selector: str
    """The series behind it."""

    rule: str
    """Place of the rule, and name of the series."""

    group_by: str = ""
    """Label by which values are told apart; "" for external metrics."""


class RuleValues:
    """Asks for values and the times of their samples in one query.

    Which labels the values have is learnt from the first answer. Where values and times cannot be
    joined (a scalar), values alone are asked for.
    """

    def __init__(self, source: Source) -> None:
        self._source = source
        self._plain: set[str] = set()
        self._labels: dict[str, frozenset[str]] = {}

    async def ask(self, query: Query) -> Values:
        """Return the values; raise QueryError."""
        window_seconds = window_of(query.expression)
        result, is_stamped = await self._result(query)
        return values(result, window_seconds=window_seconds, is_stamped=is_stamped)

    async def _result(self, query: Query) -> tuple[InstantResult, bool]:
        """Return the answer, and whether the times of samples are in it."""
        if query.rule in self._plain:
            return await self._source.query(query.expression), False
        known = frozenset({query.group_by}) if query.group_by else self._labels.get(query.rule)
        if known is None:
            first = await self._source.query(query.expression)
            known = self._labels[query.rule] = label_names(first)
        try:
            result = await self._stamped(query, known)
            more = label_names(result) - known
            if more and not query.group_by:
                known = self._labels[query.rule] = known | more
                result = await self._stamped(query, known)
        except RefusedError as error:
            if error.status not in (400, 422):
                raise
            self._plain.add(query.rule)
            return await self._source.query(query.expression), False
        return result, True

    async def _stamped(self, query: Query, labels: frozenset[str]) -> InstantResult:
        return await self._source.query(stamped(query.expression, query.selector, sorted(labels)))


class RuleExternal:
    """External metrics of the rules."""

    def __init__(self, index: SeriesIndex, asked: RuleValues) -> None:
        self._index = index
        self._values = asked

    def names(self) -> Sequence[str]:
        """Return the names that are known."""
        return self._index.listing.external_names

    async def read(self, ask: ExternalAsk) -> Sequence[Measured] | None:
        """Return the values; None where no rule has the metric."""
        if not self._index.rules.external:
            return None
        series = await found(self._index, ask.metric, is_external=True)
        if not series:
            return None
        query = external_query(series[0], ask.namespace, ask.selector)
        return told(await self._values.ask(query), ask.metric, query)


class RuleCustom:
    """Metrics of objects, by the rules."""

    def __init__(self, index: SeriesIndex, asked: RuleValues) -> None:
        self._index = index
        self._values = asked

    def rows(self) -> Sequence[CustomRow]:
        """Return what is known."""
        return self._index.listing.custom_rows

    async def read(self, ask: CustomAsk) -> Sequence[tuple[str, Measured]]:
        """Return objects and their values; raise StatusError (404) where there is none."""
        series = await found(self._index, ask.metric, is_external=False)
        if not series:
            raise no_metric(ask.metric, "no rule has it")
        chosen = next((one for one in series if _label(one, ask) in one.labels), series[0])
        label = _label(chosen, ask)
        if label is None:
            why = f"{chosen.rule.place} says no label for {ask.resource.qualified}"
            raise no_metric(ask.metric, why)
        query = custom_query(chosen, ask, label)
        wanted = set(ask.names)
        answer = told(await self._values.ask(query), ask.metric, query)
        by_name: dict[str, Measured] = {}
        for one in answer:
            name = dict(one.labels).get(label, "")
            if name in by_name:
                raise no_metric(ask.metric, f"several values for {name}: group by {label}")
            if name in wanted:
                by_name[name] = one
        return [(name, by_name[name]) for name in ask.names if name in by_name]


async def found(index: SeriesIndex, metric: str, *, is_external: bool) -> tuple[Series, ...]:
    """Return the series behind a name, looked up anew where it is not known."""
    for is_last in (False, True):
        listing = index.listing
        by_name = listing.external if is_external else listing.custom
        if metric in by_name:
            return by_name[metric]
        if not is_last:
            await index.look_again()
    return ()


def external_query(series: Series, namespace: str, selector: str) -> Query:
    """Return the query of an external metric."""
    rule, wanted = series.rule, [*matchers(selector)]
    if rule.is_namespaced:
        wanted.append(_within(rule, namespace, "or namespaced: false"))
    return _query(rule, series.name, wanted)


def custom_query(series: Series, ask: CustomAsk, label: str) -> Query:
    """Return the query of a metric of some objects, told apart by a label."""
    rule, wanted = series.rule, [*matchers(ask.selector)]
    if ask.namespace and ask.resource != NAMESPACES:
        wanted.append(_within(rule, ask.namespace, "or pods of one name in two would be mixed"))
    wanted.append(among(label, ask.names))
    return _query(rule, series.name, wanted, group_by=label)


def whole_query(series: Series, resource: Resource, namespace: str, label: str) -> Query:
    """Return the query of all objects of a namespace that have the metric, for explanations."""
    if resource == NAMESPACES:
        return _query(series.rule, series.name, [among(label, [namespace])], group_by=label)
    wanted = [_within(series.rule, namespace, "or two namespaces would be mixed")] * (
        is_namespaced(resource)
    )
    every = Matcher(label, "=~", ".+")
    return _query(series.rule, series.name, [*wanted, every], group_by=label)


def told(answer: Values, metric: str, query: Query) -> Sequence[Measured]:
    """Return the values; raise 404 with the query where there are none that can be told."""
    if not answer.told:
        raise no_metric(metric, f"{untold(answer) or 'no series has a sample'}: {query.expression}")
    return answer.told


def untold(answer: Values) -> str:
    """Return how many values cannot be told, and why; "" where all are."""
    if answer.stale:
        return f"stale: no sample of the last {STALENESS_SECONDS:g} s behind {answer.stale} values"
    if answer.untold:
        whole = "" if answer.told else "all "
        return f"{whole}{answer.untold} values are not a number, infinite or too large"
    return ""


def _query(rule: Rule, series: str, wanted: Sequence[Matcher], *, group_by: str = "") -> Query:
    has_values = "LabelValuesByName" in rule.metrics_query.fields
    joined = ",".join(map(str, wanted))
    fields: dict[str, str | Sequence[str] | Mapping[str, str]] = {
        "Series": series,
        "LabelMatchers": joined,
        "GroupBy": group_by,
        "GroupBySlice": [group_by] if group_by else [],
        "LabelValuesByName": values_by_label(wanted) if has_values else {},
    }
    return Query(
        expression=rule.metrics_query.render(fields),
        selector=f"{series}{{{joined}}}",
        rule=f"{rule.place} {series} {rule.metrics_query.text}",
        group_by=group_by,
    )


def _within(rule: Rule, namespace: str, otherwise: str) -> Matcher:
    label = rule.label_of(NAMESPACES, "namespace")
    if label is None:
        why = f"{rule.place} says no label for namespaces: give one, {otherwise}"
        raise StatusError(500, "InternalError", why)
    return among(label, [namespace])


def _label(series: Series, ask: CustomAsk) -> str | None:
    return series.rule.label_of(ask.resource, ask.singular)
