"""Which series each rule has at the moment: names and label names alone, never whole series."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import structlog

from gputide.clock import Clock
from gputide.errors import QueryError
from gputide.metricsapi.ports import CustomRow
from gputide.metricsapi.prometheus import Source
from gputide.metricsapi.rules.model import Rule, Rules
from gputide.metricsapi.rules.resources import is_namespaced
from gputide.prometheus.model import quote

log = structlog.stdlib.get_logger()
AGAIN_SECONDS = 30.0
"""A name that is not known makes us look again, at most so often."""

AWAY_AFTER = 2
"""Rules in a row that a server does not answer: one alone may just be too heavy for it."""

MAX_NAMES = 20_000
"""Series names that one rule may have; the rest is left out of discovery, and said so."""


@dataclass(frozen=True, slots=True)
class Series:
    """Series of one name that a rule takes, and which labels they have between them."""

    rule: Rule
    name: str
    labels: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Listing:
    """What the rules have, by the API's names."""

    external: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)
    custom: Mapping[str, tuple[Series, ...]] = field(default_factory=dict)
    external_names: tuple[str, ...] = ()
    custom_rows: tuple[CustomRow, ...] = ()


class SeriesIndex:
    """Looked up now and then for discovery, and again when somebody asks for an unknown name.

    A rule whose question fails keeps what it had.
    """

    def __init__(
        self, source: Source, clock: Clock, rules: Rules, *, max_age_seconds: float
    ) -> None:
        self._source = source
        self._clock = clock
        self._rules = rules
        self._max_age_seconds = max_age_seconds
        self._found: dict[str, tuple[Series, ...]] = {}
        self._looked_at_seconds: float | None = None
        self._lock = asyncio.Lock()
        self.listing = Listing()
        self.problems: dict[str, str] = {}
        """Place of a rule -> why its series are not known."""

    @property
    def rules(self) -> Rules:
        """The rules in use."""
        return self._rules

    def use(self, rules: Rules) -> None:
        """Take new rules up; what is listed stays until the next look."""
        self._rules = rules
        self._found, self._looked_at_seconds = {}, None
        for warning in rules.warnings:
            log.warning("rules", warning=warning)

    async def look_again(self) -> None:
        """Look, unless that was done a moment ago; raise QueryError where nothing is known."""
        async with self._lock:
            now = self._clock.monotonic_seconds()
            looked = self._looked_at_seconds
            if looked is None or now - looked >= AGAIN_SECONDS:
                await self._look()
        if self.problems and len(self.problems) == len(self._all_rules()):
            raise QueryError(self._source.target, next(iter(self.problems.values())))

    async def look(self) -> None:
        """Ask for every rule's series, each rule by itself."""
        async with self._lock:
            await self._look()

    async def _look(self) -> None:
        rules = self._rules
        now = self._clock.now_seconds()
        span = (now - self._max_age_seconds, now)
        known: dict[str, tuple[str, ...]] = {}
        problems: dict[str, str] = {}
        in_a_row = 0
        for rule in self._all_rules():
            if (
                in_a_row == AWAY_AFTER
            ):  # the server is out of reach: the others would only wait, too
                problems[rule.place] = next(reversed(problems.values()))
                continue
            try:
                self._found[rule.place] = await self._series(rule, span, known)
                in_a_row = 0
            except QueryError as error:
                problems[rule.place] = error.problem
                in_a_row = in_a_row + 1 if error.is_retryable else 0
        self._looked_at_seconds = self._clock.monotonic_seconds()
        if rules is not self._rules:  # they changed meanwhile: what was found is of the old ones
            self.use(self._rules)
            return
        if problems != self.problems and problems:
            log.warning("series of some rules are not known", problems=problems)
        self.problems = problems
        self.listing = _listing(rules, self._found)

    async def _series(
        self, rule: Rule, span: tuple[float, float], known: dict[str, tuple[str, ...]]
    ) -> tuple[Series, ...]:
        """Ask what is not `known` from an earlier rule of the same selector."""
        if rule.series_query not in known:
            known[rule.series_query] = await self._source.names(rule.series_query, span)
        names = known[rule.series_query]
        taken = [name for name in names if rule.takes(name)]
        if len(taken) > MAX_NAMES:
            log.warning("too many series names", rule=rule.place, names=len(taken), most=MAX_NAMES)
        made = []
        for name in taken[:MAX_NAMES]:
            selector = name_selector(rule, name)
            if selector not in known:
                known[selector] = await self._source.label_names(selector, span)
            made.append(Series(rule, name, frozenset(known[selector])))
        return tuple(made)

    def _all_rules(self) -> tuple[Rule, ...]:
        return (*self._rules.custom, *self._rules.external)


def name_selector(rule: Rule, name: str) -> str:
    """Return the rule's selector for series of one name.

    >>> rule.series_query  # doctest: +SKIP
    '{__name__=~"gpu_.*",pod!=""}'
    """
    query = rule.series_query.strip()
    brace = query.find("{")
    inner = query[brace + 1 : query.rfind("}")].strip().rstrip(",") if brace >= 0 else ""
    own = f"__name__={quote(name)}"
    if brace > 0 or not inner:  # the name stands before the brace, where it may not stand twice
        return f"{{{own},{inner}}}" if inner else f"{{{own}}}"
    return f"{{{inner},{own}}}"


def _listing(rules: Rules, found: Mapping[str, Sequence[Series]]) -> Listing:
    external: dict[str, tuple[Series, ...]] = {}
    custom: dict[str, tuple[Series, ...]] = {}
    for section, into in ((rules.external, external), (rules.custom, custom)):
        for one in (series for rule in section for series in found.get(rule.place, ())):
            name = one.rule.api_name(one.name)
            into[name] = (*into.get(name, ()), one)
    rows = dict.fromkeys(row for name, series in custom.items() for row in _rows(name, series))
    return Listing(external, custom, tuple(external), tuple(rows))


def _rows(name: str, series: Sequence[Series]) -> Iterator[CustomRow]:
    """Yield a row a resource; a namespace's own metrics have a name of their own."""
    for one in series:
        for label in sorted(one.labels):
            resource = one.rule.resource_of(label)
            if resource is not None:
                yield CustomRow(
                    resource=resource, metric=name, is_namespaced=is_namespaced(resource)
                )
