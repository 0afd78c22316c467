"""One autoscaler's prediction as a self-contained HTML page. Pure."""

import numpy as np
from numpy.typing import NDArray

from gputide.charts import (
    Block,
    Callout,
    Cell,
    Column,
    Figure,
    Figures,
    Forecasted,
    Language,
    Note,
    Section,
    Table,
    Tone,
    observer_sections,
    page,
)
from gputide.clock import utc_from_unix
from gputide.metricsapi.predictions.texts import WORDS, Words
from gputide.metricsapi.predictions.wire import Detail

FloatArray = NDArray[np.float64]
MAX_PAST_SECONDS = 7 * 86_400.0
"""Of the past, the page shows this much: it must stay small enough for kubectl."""


def observer_page(detail: Detail, language: Language = "en") -> str:
    """Return the page: verdict, figures now, the two charts, reason chain, bounds."""
    words = WORDS[language]
    sections = [_now(detail, words)]
    charted = forecasted(detail)
    if len(charted.unix_seconds):
        sections += observer_sections(charted, language)
    if detail.steps:
        sections.append(Section(title=words.chain, anchor="why", blocks=[_chain(detail, words)]))
    judged = _verdict(detail, words)
    sections.append(Section(title=words.verdict, anchor="verdict", blocks=judged))
    sections.append(Section(title=words.bounds, anchor="bounds", blocks=[_bounds(detail, words)]))
    title = words.title.format(namespace=detail.namespace, name=detail.name)
    return page(title, sections, language)


def forecasted(detail: Detail) -> Forecasted:
    """Return the past, and the hours to come after it, on one rising row of times."""
    past, ahead, scale = detail.past, detail.ahead, _scale(detail)
    times = past.start_seconds + past.step_seconds * np.arange(len(past.demand))
    is_shown = times >= (times[-1] if times.size else 0) - MAX_PAST_SECONDS
    later = np.empty(0)
    if ahead is not None:
        later = np.asarray(
            ahead.start_seconds + ahead.step_seconds * np.arange(len(ahead.upper)), np.float64
        )
    is_new = later > (times[-1] if times.size else -np.inf)
    unknown = np.full(int(is_new.sum()), np.nan)
    upper = _array(ahead.upper if ahead else ())[is_new]
    pods = _array(ahead.pods if ahead else ())[is_new]
    return Forecasted(
        unix_seconds=np.concatenate([times[is_shown], later[is_new]]),
        demand=np.concatenate([_array(past.demand)[is_shown], unknown]) * scale,
        predicted_demand=np.concatenate([_array(past.predicted)[is_shown], upper]) * scale,
        pods=np.concatenate([_array(past.pods)[is_shown], unknown]),
        predicted_pods=np.concatenate([_array(past.predicted_pods)[is_shown], pods]),
        unit=_unit(detail),
        time_zone=detail.time_zone or "UTC",
        name=f"{detail.namespace}/{detail.name}",
    )


def _now(detail: Detail, words: Words) -> Section:
    issued = utc_from_unix(detail.issued_at).strftime("%Y-%m-%d %H:%M:%S UTC")
    lead = _span(detail.lead_seconds)
    note = words.forecast_note.format(lead=lead, quantile=f"{detail.quantile:g}")
    replicas = detail.published_replicas
    figures = (
        Figure(label=words.strategy, value=detail.strategy or words.unknown),
        Figure(label=words.metric, value=detail.metric, note=_target(detail, words)),
        Figure(label=words.demand, value=_amount(detail.demand, detail, words)),
        Figure(
            label=words.forecast, value=_amount(detail.forecast_demand, detail, words), note=note
        ),
        Figure(label=words.desired, value=_number(replicas, words)),
        Figure(label=words.current, value=_number(detail.current_replicas, words)),
    )
    blocks: list[Block] = [
        _callout(detail, words),
        Figures(figures=figures),
        Note(text=words.issued.format(time=issued)),
    ]
    return Section(title=words.now, anchor="now", blocks=blocks)


def _callout(detail: Detail, words: Words) -> Callout:
    verdict = detail.verdict
    if verdict is None:
        told = (detail.history_text,) if detail.history_text else ()
        return Callout(headline=words.no_verdict, reasons=told, tone=Tone.CAUTION)
    headline = words.seasonal if verdict.is_seasonal_in_use else words.not_seasonal
    tone = Tone.GOOD if verdict.is_seasonal_in_use else Tone.CAUTION
    return Callout(headline=headline, reasons=verdict.texts or verdict.reasons, tone=tone)


def _chain(detail: Detail, words: Words) -> Table:
    rows = [(step.reason, _pods(step.replicas), step.text) for step in detail.steps]
    columns = (
        Column(label=words.reason, is_number=False),
        Column(label=words.pods),
        Column(label=words.text, is_number=False),
    )
    return _table(words.chain_caption, columns, rows)


def _verdict(detail: Detail, words: Words) -> list[Block]:
    verdict = detail.verdict
    if verdict is None:
        return [Note(text=detail.history_text or words.no_verdict)]
    periods = ", ".join(_span(one) for one in verdict.periods_seconds) or words.none
    rows = [
        (words.periods, periods),
        (words.span, _span(verdict.span_seconds)),
        (words.known, _percent(verdict.known_ratio, words)),
        (words.coverage, _percent(verdict.coverage_ratio, words)),
        (words.loss, _percent(verdict.pinball_loss_ratio, words)),
    ]
    return [_pairs(words.verdict_caption, rows, words)]


def _bounds(detail: Detail, words: Words) -> Table:
    rows = [
        (words.least, _number(detail.min_replicas, words)),
        (words.most, _number(detail.max_replicas, words)),
        (words.place, detail.bound_path or words.none),
        (words.zone, detail.time_zone),
    ]
    return _pairs(words.bounds_caption, rows, words)


def _pairs(
    caption: str, rows: list[tuple[str, ...]] | list[tuple[str, str]], words: Words
) -> Table:
    columns = (
        Column(label=words.what, is_number=False),
        Column(label=words.value, is_number=False),
    )
    return _table(caption, columns, rows)


def _table(
    caption: str,
    columns: tuple[Column, ...],
    rows: list[tuple[str, ...]] | list[tuple[str, str]] | list[tuple[str, str, str]],
) -> Table:
    cells = tuple(tuple(Cell(text=text) for text in row) for row in rows)
    return Table(caption=caption, columns=columns, rows=cells)


def _scale(detail: Detail) -> float:
    """Return what a demand is multiplied with for people: utilization is shown in percent."""
    return 100.0 if detail.is_utilization and detail.unit != "%" else 1.0


def _unit(detail: Detail) -> str:
    return "%" if detail.is_utilization else detail.unit


def _amount(value: float | None, detail: Detail, words: Words) -> str:
    if value is None:
        return words.unknown
    return f"{value * _scale(detail):.4g} {_unit(detail)}".rstrip()


def _target(detail: Detail, words: Words) -> str:
    if detail.target is None:
        return ""
    return f"{words.target} {_amount(detail.target, detail, words)}"


def _number(value: int | None, words: Words) -> str:
    return words.unknown if value is None else str(value)


def _pods(value: float | None) -> str:
    """Return a step's pods; a step that settles none has an empty cell."""
    return "" if value is None else f"{value:.10g}"


def _percent(value: float | None, words: Words) -> str:
    return words.unknown if value is None else f"{value * 100:.3g} %"


def _span(seconds: float) -> str:
    """Return a length of time in its largest whole unit.

    >>> _span(86400), _span(180), _span(90)
    ('1 d', '3 min', '90 s')
    """
    for size, unit in ((86_400, "d"), (3600, "h"), (60, "min")):
        if seconds >= size and seconds % size == 0:
            return f"{seconds / size:g} {unit}"
    days = seconds / 86_400
    return f"{days:.3g} d" if days >= 2 else f"{seconds:g} s"


def _array(values: tuple[float | None, ...]) -> FloatArray:
    return np.array([np.nan if one is None else one for one in values], dtype=np.float64)
