"""Self-contained HTML pages with charts: values in, one file of text out.

A page is sections of blocks: charts, tables, figures, paragraphs. It opens offline, loads nothing,
and takes every text as text: names and messages may hold whatever a stranger put into a label.
"""

from gputide.charts.model import (
    Block,
    Callout,
    Cell,
    Chart,
    Color,
    Column,
    Curve,
    Facts,
    Figure,
    Figures,
    Line,
    Note,
    Paragraph,
    Scatter,
    Section,
    Table,
    Tone,
)
from gputide.charts.observer import Forecasted, observer_charts, observer_sections
from gputide.charts.page import page
from gputide.charts.texts import LANGUAGES, Language

__all__ = [
    "LANGUAGES",
    "Block",
    "Callout",
    "Cell",
    "Chart",
    "Color",
    "Column",
    "Curve",
    "Facts",
    "Figure",
    "Figures",
    "Forecasted",
    "Language",
    "Line",
    "Note",
    "Paragraph",
    "Scatter",
    "Section",
    "Table",
    "Tone",
    "observer_charts",
    "observer_sections",
    "page",
]
