"""The report as one HTML page: what to do first, then the figures, the pictures and the method."""

from collections.abc import Sequence
from datetime import timedelta
from itertools import count

from gputide.backtest.model import TraceReport
from gputide.backtest.report.figures import (
    Row,
    Summary,
    advice,
    budget_words,
    harm_words,
    knob_words,
    middle,
    rows,
    summary,
)
from gputide.backtest.report.pictures import curve_charts, observer
from gputide.backtest.report.texts import REPORT_TEXTS, ReportTexts
from gputide.charts import (
    Block,
    Callout,
    Cell,
    Column,
    Facts,
    Figure,
    Figures,
    Language,
    Note,
    Paragraph,
    Section,
    Table,
    Tone,
    page,
)
from gputide.charts.numbers import UNKNOWN, number, percent

OVER = "▲ "


def render(reports: Sequence[TraceReport], language: Language = "en") -> str:
    """Return the page; several traces get an overview first, with links to each."""
    texts = REPORT_TEXTS[language]
    sections: list[Section] = []
    if len(reports) > 1:
        sections.append(_overview(reports, texts))
    for at, report in zip(count(1), reports, strict=False):
        sections += _sections(report, f"trace-{at}", language)
    sections.append(
        Section(
            title=texts.measured,
            anchor="measured",
            blocks=[Paragraph(text=sentence) for sentence in texts.how],
        )
    )
    return page(texts.title, sections, language)


def _overview(reports: Sequence[TraceReport], texts: ReportTexts) -> Section:
    summaries = [summary(report) for report in reports]
    heads = (texts.days, texts.saving, texts.saving_stabilized, texts.saturated, texts.late)
    columns = (
        Column(label=texts.trace, is_number=False),
        Column(label=texts.advice, is_number=False),
        *(Column(label=head) for head in (*heads, texts.covered)),
    )
    lines = [_overview_cells(line, f"#trace-{at}", texts) for at, line in enumerate(summaries, 1)]
    return Section(
        title=texts.overview,
        anchor="overview",
        blocks=[
            Table(
                caption=texts.overview_meaning,
                columns=columns,
                rows=(*lines, _median_cells(summaries, texts)),
                strong_rows=frozenset({len(lines)}),
            )
        ],
    )


def _overview_cells(line: Summary, href: str, texts: ReportTexts) -> tuple[Cell, ...]:
    row = line.champion
    harms = (Cell(text=UNKNOWN), Cell(text=UNKNOWN))
    if row is not None:
        harms = (
            _harm(row.outcome.saturated_ratio, is_over=row.is_saturated_over),
            _harm(row.outcome.late_ratio, is_over=row.is_late_over),
        )
    return (
        Cell(text=line.name, href=href),
        Cell(
            text=texts.switch if line.is_switch else texts.keep,
            tone=Tone.GOOD if line.is_switch else Tone.MUTED,
        ),
        Cell(text=number(line.days, digits=2)),
        Cell(text=percent(line.saving_ratio, decimals=1)),
        Cell(text=percent(line.stabilized_saving_ratio, decimals=1)),
        *harms,
        Cell(text=percent(line.coverage_ratio, decimals=1)),
    )


def _median_cells(summaries: Sequence[Summary], texts: ReportTexts) -> tuple[Cell, ...]:
    outcomes = [line.champion.outcome for line in summaries if line.champion]
    switches = sum(line.is_switch for line in summaries)
    figures = (
        percent(middle([line.saving_ratio for line in summaries]), decimals=1),
        percent(middle([line.stabilized_saving_ratio for line in summaries]), decimals=1),
        harm_words(middle([outcome.saturated_ratio for outcome in outcomes])),
        harm_words(middle([outcome.late_ratio for outcome in outcomes])),
        percent(middle([line.coverage_ratio for line in summaries]), decimals=1),
    )
    return (
        Cell(text=texts.median),
        Cell(text=texts.of_traces.format(switch=switches, count=len(summaries))),
        Cell(text=""),
        *(Cell(text=figure) for figure in figures),
    )


def _sections(report: TraceReport, anchor: str, language: Language) -> list[Section]:
    texts = REPORT_TEXTS[language]
    return [
        Section(title=report.trace.name, anchor=anchor, blocks=_headline(report, texts)),
        _part(texts.policies, f"{anchor}-policies", _policies(report, texts)),
        _part(texts.observer, f"{anchor}-observer", observer(report, anchor, language)),
        _part(texts.curves, f"{anchor}-curves", curve_charts(report, texts)),
        _part(texts.settings, f"{anchor}-settings", [_facts(report, texts)]),
    ]


def _part(title: str, anchor: str, blocks: Sequence[Block]) -> Section:
    return Section(title=title, anchor=anchor, blocks=blocks, level=3)


def _headline(report: TraceReport, texts: ReportTexts) -> list[Block]:
    headline, reasons = advice(report)
    tone = Tone.GOOD if report.recommendation.is_switch else Tone.NEUTRAL
    blocks: list[Block] = [
        Callout(headline=_bound(headline), reasons=tuple(map(_bound, reasons)), tone=tone)
    ]
    blocks.append(Figures(figures=_figures(report, texts)))
    if report.warnings:
        blocks.append(Callout(headline=texts.warnings, reasons=report.warnings, tone=Tone.CAUTION))
    return blocks


def _bound(text: str) -> str:
    """Return the text with each number on the line of its percent sign."""
    return text.replace(" %", "\N{NO-BREAK SPACE}%")


def _figures(report: TraceReport, texts: ReportTexts) -> tuple[Figure, ...]:
    line = summary(report)
    covered = Figure(
        label=texts.covered,
        value=percent(report.coverage_ratio, decimals=1),
        note=texts.covered_note.format(quantile=percent(report.quantile, decimals=1)),
    )
    if line.champion is None:
        return (covered,)
    row = line.champion
    return (
        _saving_figure(texts.saving, texts.saving_note, line.saving_ratio),
        _saving_figure(
            texts.saving_stabilized, texts.saving_stabilized_note, line.stabilized_saving_ratio
        ),
        _harm_figure(texts.saturated, row.outcome.saturated_ratio, report, texts),
        _harm_figure(texts.late, row.outcome.late_ratio, report, texts),
        covered,
    )


def _saving_figure(label: str, note: str, ratio: float | None) -> Figure:
    tone = Tone.GOOD if (ratio or 0) > 0 else Tone.NEUTRAL
    return Figure(label=label, value=percent(ratio, decimals=1), note=note, tone=tone)


def _harm_figure(label: str, ratio: float, report: TraceReport, texts: ReportTexts) -> Figure:
    is_over = ratio > report.harm_budget_ratio
    note = texts.over_budget if is_over else texts.budget_note
    return Figure(
        label=label,
        value=harm_words(ratio),
        note=note.format(budget=budget_words(report)),
        tone=Tone.BAD if is_over else Tone.NEUTRAL,
    )


def _policies(report: TraceReport, texts: ReportTexts) -> list[Block]:
    limit = f"{report.workload.initial_queue_limit_seconds:g}"
    columns = (
        Column(label=texts.policy, is_number=False),
        Column(label=texts.replica_hours, meaning=texts.replica_hours_meaning),
        Column(label=texts.saving, meaning=texts.saving_meaning),
        Column(label=texts.saturated, meaning=texts.saturated_meaning),
        Column(label=texts.late, meaning=texts.late_meaning.format(limit=limit)),
        Column(label=texts.changes, meaning=texts.changes_meaning),
        Column(label=texts.started, meaning=texts.started_meaning),
        Column(label=texts.knobs, is_number=False),
    )
    judged = rows(report)
    caption = texts.policies_caption.format(
        days=number(summary(report).days, digits=3), budget=budget_words(report)
    )
    return [
        Table(
            caption=caption,
            columns=columns,
            rows=tuple(
                (
                    Cell(
                        text=texts.names[row.outcome.policy]
                        + ("" if row.outcome.is_walk_forward else " *")
                    ),
                    Cell(text=number(row.outcome.replica_hours, digits=4)),
                    _saving_cell(row, texts),
                    _harm(row.outcome.saturated_ratio, is_over=row.is_saturated_over),
                    _harm(row.outcome.late_ratio, is_over=row.is_late_over),
                    Cell(text=number(row.outcome.changes_per_day)),
                    Cell(text=number(row.outcome.pods_started_per_day)),
                    Cell(text=knob_words(row.outcome.knobs)),
                )
                for row in judged
            ),
            strong_rows=frozenset(at for at, row in enumerate(judged) if row.is_champion),
        ),
        Note(text=texts.footnote),
    ]


def _saving_cell(row: Row, texts: ReportTexts) -> Cell:
    if row.is_opponent:
        return Cell(text=texts.baseline, tone=Tone.MUTED)
    tone = Tone.GOOD if row.is_fair_saving else Tone.NEUTRAL
    return Cell(text=percent(row.saving_ratio, decimals=1), tone=tone)


def _harm(ratio: float, *, is_over: bool) -> Cell:
    if is_over:
        return Cell(text=OVER + harm_words(ratio), tone=Tone.BAD)
    return Cell(text=harm_words(ratio))


def _facts(report: TraceReport, texts: ReportTexts) -> Facts:
    trace, workload = report.trace, report.workload
    start = report.timeline.start_utc
    end = start + timedelta(seconds=len(report.timeline.demand) * report.timeline.step_seconds)
    span = f"{start:%Y-%m-%d %H:%M} \N{EN DASH} {end:%Y-%m-%d %H:%M} UTC"
    cadence = texts.cadence.format(recorded=trace.recorded_step_seconds, step=trace.step_seconds)
    bounds = f"{workload.min_replicas:,} \N{EN DASH} {workload.max_replicas:,}"
    return Facts(
        facts=(
            (texts.fact_span, span),
            (texts.fact_zone, trace.time_zone),
            (texts.fact_cadence, cadence),
            (texts.fact_capacity, f"{workload.capacity_per_pod:.4g} {trace.unit}".rstrip()),
            (texts.fact_delay, f"{workload.start_delay_seconds:g} s"),
            (texts.fact_bounds, bounds),
            (texts.fact_queue, f"{workload.initial_queue_limit_seconds:g} s"),
            (texts.fact_budget, budget_words(report)),
            (texts.fact_quantile, f"{report.quantile:g}"),
        )
    )
