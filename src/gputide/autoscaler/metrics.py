"""What the controller knows, as families of the catalog. Pure."""

from collections import Counter
from collections.abc import Mapping

from gputide import __version__
from gputide.autoscaler import catalog
from gputide.autoscaler.model import Key, Outcome, Subject
from gputide.exposition import Family
from gputide.exposition.rows import MetricRow, Value, by, families


def outcome_families(outcomes: Mapping[Key, tuple[Subject, Outcome]]) -> tuple[Family, ...]:
    """Return the families that have a series an autoscaler; what is unknown has none."""
    rows: dict[MetricRow, list[Value]] = {row: [] for row in _ROWS}
    for key, (subject, outcome) in sorted(outcomes.items()):
        target = subject.autoscaler.target
        labels = (
            ("namespace", key.namespace),
            ("ahpa", key.name),
            ("workload", target.name if target else ""),
            ("metric", subject.autoscaler.metrics[0].name),
        )
        coverage = outcome.verdict.coverage_ratio if outcome.verdict else None
        values: dict[MetricRow, float | None] = {
            catalog.PROACTIVE: outcome.proactive_replicas,
            catalog.REACTIVE: outcome.reactive_replicas,
            catalog.REQUESTED: outcome.desired_replicas,
            catalog.MAXIMUM: outcome.bound.max_replicas,
            catalog.MINIMUM: outcome.bound.min_replicas,
            catalog.TARGET: subject.autoscaler.metrics[0].target,
            catalog.DEMAND: outcome.demands[0].value,
            catalog.FORECAST: outcome.forecast_demand,
            catalog.CURRENT: outcome.current_replicas,
            catalog.COVERAGE: coverage,
        }
        for row, value in values.items():
            if value is not None:
                rows[row].append((labels, float(value)))
    states = Counter(outcome.demands[0].state.value for _, outcome in outcomes.values())
    rows[catalog.OBJECTS] = by("state", states)
    return families(rows)


_ROWS = (
    catalog.PROACTIVE,
    catalog.REACTIVE,
    catalog.REQUESTED,
    catalog.MAXIMUM,
    catalog.MINIMUM,
    catalog.TARGET,
    catalog.DEMAND,
    catalog.FORECAST,
    catalog.CURRENT,
    catalog.COVERAGE,
)


def build_family() -> tuple[Family, ...]:
    """Return the version's family."""
    return families({catalog.BUILD: [((("version", __version__),), 1.0)]})
