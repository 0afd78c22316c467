"""The pictures of one trace: actual beside predicted, and cost against harm."""

import numpy as np

from gputide.backtest.model import FloatArray, Outcome, PolicyName, Timeline, TraceReport
from gputide.backtest.report.figures import CHAMPIONS, budget_words, knob_words
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

COLORS = {
    PolicyName.FIXED: Color.REFERENCE,
    PolicyName.HPA: Color.ACTUAL,
    PolicyName.HPA_TUNED: Color.PURPLE,
    PolicyName.HPA_STABILIZED: Color.PINK,
    PolicyName.CRANE: Color.ORANGE,
    PolicyName.LAST_DAY: Color.BROWN,
    PolicyName.LAST_WEEK: Color.OLIVE,
    PolicyName.GPUTIDE_ONE_TARGET: Color.TEAL,
    PolicyName.GPUTIDE: Color.GOLD,
    PolicyName.GPUTIDE_TUNED: Color.PREDICTED,
    PolicyName.ORACLE: Color.INDIGO,
}


def observer(report: TraceReport, name: str, language: Language) -> list[Block]:
    """Return the two observer charts: demand and pods, each actual beside predicted."""
    texts, timeline = REPORT_TEXTS[language], report.timeline
    unknown = np.full(len(timeline.demand), np.nan)
    pods = _actual_pods(report)
    tuned = timeline.replicas.get(PolicyName.HPA_TUNED)
    forecasted = Forecasted(
        unix_seconds=_unix_seconds(timeline),
        demand=timeline.demand,
        predicted_demand=timeline.forecast_upper,
        pods=unknown if pods is None else pods,
        pods_label=texts.simulated_pods if report.trace.replicas is None else "",
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


def _actual_pods(report: TraceReport) -> FloatArray | None:
    """Return the recorded pods of the evaluated span; the HPA's where none are recorded."""
    trace, timeline = report.trace, report.timeline
    if trace.replicas is None:
        return timeline.replicas.get(PolicyName.HPA)
    first = round((timeline.start_utc - trace.start_utc).total_seconds() / trace.step_seconds)
    return trace.replicas[first : first + len(timeline.demand)]


def _predicted_pods(timeline: Timeline, unknown: FloatArray) -> FloatArray:
    found = (timeline.replicas[policy] for policy in CHAMPIONS if policy in timeline.replicas)
    return next(found, unknown)


def _hidden(label: str, values: FloatArray) -> Line:
    return Line(label=label, values=values, color=Color.PURPLE, is_stepped=True, is_hidden=True)


def curve_charts(report: TraceReport, texts: ReportTexts) -> list[Block]:
    """Return the curves of replica-hours against each of the two harms, in percent."""
    budget = texts.budget.format(budget=budget_words(report))

    def chart(title: str, label: str, harm: str) -> Scatter:
        return Scatter(
            title=title,
            meaning=texts.curve_meaning,
            x_label=label,
            x_unit="%",
            y_label=texts.replica_hours,
            y_unit="h",
            note_label=texts.knobs,
            curves=tuple(_curves(report, harm, texts)),
            x_linear_below=100 * report.harm_budget_ratio / 5,
            x_limit=100 * report.harm_budget_ratio,
            x_limit_label=budget,
        )

    charts = (
        chart(texts.curve_saturated, texts.saturated, "saturated_ratio"),
        chart(texts.curve_late, texts.late, "late_ratio"),
    )
    return [chart for chart in charts if chart.curves]


def _curves(report: TraceReport, harm: str, texts: ReportTexts) -> list[Curve]:
    """Return a curve a policy: its sweep in hindsight, and the headline outcome as chosen."""
    curves, drawn = [], set()
    for outcome in report.outcomes:
        sweep = report.curves.get(outcome.policy, ())
        replica_hours = tuple(point.replica_hours for point in sweep)
        is_drawn = replica_hours in drawn  # tuned policies may sweep what another one sweeps
        drawn.add(replica_hours)
        curve = _curve(outcome, () if is_drawn else sweep, harm, texts)
        if curve is not None:
            curves.append(curve)
    return curves


def _curve(
    headline: Outcome, sweep: tuple[Outcome, ...], harm: str, texts: ReportTexts
) -> Curve | None:
    points = [(100 * float(getattr(o, harm)), o.replica_hours, o) for o in (*sweep, headline)]
    known = [point for point in points if np.isfinite(point[0]) and np.isfinite(point[1])]
    if not known:
        return None
    return Curve(
        label=texts.names[headline.policy],
        x=np.array([x for x, _, _ in known]),
        y=np.array([y for _, y, _ in known]),
        notes=tuple(knob_words(outcome.knobs) for _, _, outcome in known),
        color=COLORS[headline.policy],
        chosen=len(known) - 1 if known[-1][2] is headline else None,
    )
