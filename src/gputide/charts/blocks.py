"""Blocks of a section as HTML; charts as a figure with its data beside it."""

import msgspec

from gputide.charts.encode import chart_data, chart_summary, scatter_data, scatter_summary
from gputide.charts.markup import Markup, element, join
from gputide.charts.model import (
    Block,
    Callout,
    Cell,
    Chart,
    Column,
    Facts,
    Figure,
    Figures,
    Note,
    Paragraph,
    Scatter,
    Section,
    Table,
    Tone,
)
from gputide.charts.texts import Texts
from gputide.charts.thin import thin

SHORT = 16
"""Characters of a cell that is not broken into lines."""


class Renderer:
    """Renders the sections of one page; counts its charts, so that each has its own name."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts
        self._charts = 0

    def section(self, section: Section) -> Markup:
        """Return a section with its heading and blocks."""
        heading = element(f"h{section.level}", section.title, id=section.anchor)
        blocks = [self._block(block) for block in section.blocks]
        landmark = section.anchor if section.level == 2 else None  # parts of it are no landmarks
        return element("section", heading, *blocks, aria_labelledby=landmark)

    def _block(self, block: Block) -> Markup:
        match block:
            case Chart() | Scatter():
                return self._figure(block)
            case Table():
                return _table(block)
            case Figures():
                return element("dl", *map(_number, block.figures), class_="figures")
            case Callout() | Paragraph() | Note() | Facts():
                return _prose(block)

    def _figure(self, chart: Chart | Scatter) -> Markup:
        self._charts += 1
        name = f"chart-{self._charts}"
        texts = self._texts
        if isinstance(chart, Chart):
            thinned = thin(chart)
            encoded, summary = chart_data(thinned, texts), chart_summary(chart, thinned, texts)
        else:
            encoded, summary = scatter_data(chart, texts), scatter_summary(chart, texts)
        return element(
            "figure",
            element("h4", chart.title, id=f"{name}-title", class_="chart-title"),
            element("p", chart.meaning, class_="meaning"),
            element("div", class_="plot", id=name, data_chart=f"{name}-data"),
            element("figcaption", *summary, id=f"{name}-summary"),
            _data(f"{name}-data", encoded),
            class_="chart" if isinstance(chart, Chart) else "chart scatter",
            aria_labelledby=f"{name}-title",
            aria_describedby=f"{name}-summary",
        )


def _data(name: str, encoded: object) -> Markup:
    """Return a data block; `<` is spelt in a way that no HTML parser can take for a tag."""
    text = msgspec.json.encode(encoded).decode().replace("<", "\\u003c")
    return element("script", Markup(text), type="application/json", id=name)


def _prose(block: Callout | Paragraph | Note | Facts) -> Markup:
    match block:
        case Paragraph():
            return element("p", block.text)
        case Note():
            return element("p", block.text, class_="note")
        case Callout():
            reasons = [element("li", reason) for reason in block.reasons]
            listed = element("ul", *reasons) if reasons else join()
            headline = element("p", block.headline, class_="headline")
            return element("div", headline, listed, class_=f"callout {block.tone}")
        case Facts():
            pairs = [join(element("dt", name), element("dd", value)) for name, value in block.facts]
            return element("dl", *pairs, class_="facts")


def _number(figure: Figure) -> Markup:
    note = element("dd", figure.note, class_="note") if figure.note else join()
    value = element("dd", figure.value, class_=f"value {figure.tone}")
    return element("div", element("dt", figure.label), value, note)


def _table(table: Table) -> Markup:
    head = element("tr", *(_heading(column) for column in table.columns))
    rows = [
        element(
            "tr",
            *(_cell(cell, table.columns[at], is_first=at == 0) for at, cell in enumerate(row)),
            class_="strong" if index in table.strong_rows else None,
        )
        for index, row in enumerate(table.rows)
    ]
    inner = element("table", element("thead", head), element("tbody", *rows))
    scroll = element(
        "div", inner, class_="scroll", tabindex="0", role="group", aria_label=table.caption
    )
    return join(element("p", table.caption, class_="note"), scroll)


def _heading(column: Column) -> Markup:
    side = "number" if column.is_number else None
    return element("th", column.label, scope="col", class_=side, title=column.meaning or None)


def _cell(cell: Cell, column: Column, *, is_first: bool) -> Markup:
    content = element("a", cell.text, href=cell.href) if cell.href.startswith("#") else cell.text
    kind = "number" if column.is_number else "short" if len(cell.text) <= SHORT else ""
    tone = "" if cell.tone == Tone.NEUTRAL else str(cell.tone)
    name = f"{kind} {tone}".strip() or None
    if is_first:
        return element("th", content, scope="row", class_=name)
    return element("td", content, class_=name)
