"""The pictures of one trace: actual beside predicted, and cost against harm."""

import numpy as np

from gputide.backtest.model import FloatArray, Outcome, PolicyName, Timeline, TraceReport
from gputide.backtest.report.figures import CHAMPIONS, knob_words
from gputide.backtest.report.texts import REPORT_TEXTS, ReportTexts
from gputide.charts import (
    Block,
    Color,
    Curve,
    Forecasted,
    Language,
    Line,
    Note,
    Scatter,
    observer_charts,
)
from gputide.charts.numbers import percent

COLORS = {
    PolicyName.FIXED: Color.REFERENCE,
    PolicyName.HPA: Color.ACTUAL,
    PolicyName.HPA_TUNED: Color.PURPLE,
    PolicyName.HPA_STABILIZED: Color.PINK,
    PolicyName.CRANE: Color.ORANGE,
    PolicyName.LAST_DAY: Color.BROWN,
    PolicyName.LAST_WEEK: Color.OLIVE,
    PolicyName.GPUTIDE_ONE_TARGET: Color.TEAL,
    PolicyName.GPUTIDE: Color.PREDICTED,
    PolicyName.GPUTIDE_TUNED: Color.PREDICTED,
    PolicyName.ORACLE: Color.REFERENCE,
}


def observer(report: TraceReport, name: str, language: Language) -> list[Block]:
    """Return the two observer charts: demand and pods, each actual beside predicted."""
    texts, timeline = REPORT_TEXTS[language], report.timeline
    unknown = np.full(len(timeline.demand), np.nan)
    tuned = timeline.replicas.get(PolicyName.HPA_TUNED)
    forecasted = Forecasted(
        unix_seconds=_unix_seconds(timeline),
        demand=timeline.demand,
        predicted_demand=timeline.forecast_upper,
        pods=timeline.replicas.get(PolicyName.HPA, unknown),
        predicted_pods=_predicted_pods(timeline, unknown),
        unit=report.trace.unit,
        time_zone=report.trace.time_zone,
        name=name,
    )
    more = () if tuned is None else (_hidden(texts.tuned_pods, tuned),)
    charts: list[Block] = list(observer_charts(forecasted, language, more_pods=more))
    if report.trace.replicas is None:
        charts.append(Note(text=texts.simulated_actual))
    return charts


def _unix_seconds(timeline: Timeline) -> FloatArray:
    steps = np.arange(len(timeline.demand), dtype=np.float64)
    return timeline.start_utc.timestamp() + timeline.step_seconds * steps


def _predicted_pods(timeline: Timeline, unknown: FloatArray) -> FloatArray:
    found = (timeline.replicas[policy] for policy in CHAMPIONS if policy in timeline.replicas)
    return next(found, unknown)


def _hidden(label: str, values: FloatArray) -> Line:
    return Line(label=label, values=values, color=Color.PURPLE, is_stepped=True, is_hidden=True)


def curve_charts(report: TraceReport, texts: ReportTexts) -> list[Block]:
    """Return the curves of replica-hours against each of the two harms, in percent."""
    budget = texts.budget.format(budget=percent(report.harm_budget_ratio))

    def chart(title: str, label: str, harm: str) -> Scatter:
        return Scatter(
            title=title,
            meaning=texts.curve_meaning,
            x_label=label,
            x_unit="%",
            y_label=texts.replica_hours,
            y_unit="h",
            curves=tuple(_curves(report, harm, texts)),
            x_linear_below=100 * report.harm_budget_ratio / 5,
            x_limit=100 * report.harm_budget_ratio,
            x_limit_label=budget,
        )

    return [
        chart(texts.curve_saturated, texts.saturated, "saturated_ratio"),
        chart(texts.curve_late, texts.late, "late_ratio"),
    ]


def _curves(report: TraceReport, harm: str, texts: ReportTexts) -> list[Curve]:
    return [
        curve
        for policy, outcomes in _contestants(report).items()
        if (curve := _curve(policy, outcomes, harm, texts)) is not None
    ]


def _contestants(report: TraceReport) -> dict[PolicyName, tuple[Outcome, ...]]:
    """Return every policy's sweep; one without a sweep stands as its single headline point."""
    return {
        outcome.policy: report.curves.get(outcome.policy) or (outcome,)
        for outcome in report.outcomes
    }


def _curve(
    policy: PolicyName, outcomes: tuple[Outcome, ...], harm: str, texts: ReportTexts
) -> Curve | None:
    points = [(100 * float(getattr(o, harm)), o.replica_hours, o) for o in outcomes]
    known = [point for point in points if np.isfinite(point[0]) and np.isfinite(point[1])]
    if not known:
        return None
    return Curve(
        label=texts.names[policy],
        x=np.array([x for x, _, _ in known]),
        y=np.array([y for _, y, _ in known]),
        notes=tuple(knob_words(outcome.knobs) for _, _, outcome in known),
        color=COLORS[policy],
    )
