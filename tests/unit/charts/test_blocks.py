import numpy as np
import pytest

from gputide.charts.blocks import Renderer
from gputide.charts.model import (
    Block,
    Callout,
    Cell,
    Chart,
    Color,
    Column,
    Facts,
    Figure,
    Figures,
    Line,
    Note,
    Paragraph,
    Section,
    Table,
    Tone,
)
from gputide.charts.texts import ENGLISH


def rendered(*blocks: Block, level: int = 2) -> str:
    section = Section(title="Title", anchor="name", blocks=blocks, level=level)
    return Renderer(ENGLISH).section(section)


@pytest.mark.parametrize(
    ("block", "expected"),
    [
        (Paragraph(text="words"), "<p>words</p>"),
        (Note(text="words"), '<p class="note">words</p>'),
        (
            Callout(headline="Do", reasons=("why",), tone=Tone.GOOD),
            '<div class="callout good"><p class="headline">Do</p><ul><li>why</li></ul></div>',
        ),
        (
            Callout(headline="Do"),
            '<div class="callout neutral"><p class="headline">Do</p></div>',
        ),
        (
            Facts(facts=(("a", "b"),)),
            '<dl class="facts"><dt>a</dt><dd>b</dd></dl>',
        ),
        (
            Figures(figures=(Figure(label="a", value="1", note="n", tone=Tone.BAD),)),
            (
                '<dl class="figures"><div><dt>a</dt><dd class="value bad">1</dd>'
                '<dd class="note">n</dd></div></dl>'
            ),
        ),
    ],
)
def test_a_block_becomes_its_element(block: Block, expected: str) -> None:
    assert expected in rendered(block)


def test_a_heading_names_its_section_and_only_chapters_are_landmarks() -> None:
    assert rendered() == ('<section aria-labelledby="name"><h2 id="name">Title</h2></section>')
    assert rendered(level=3) == '<section><h3 id="name">Title</h3></section>'


def test_a_table_names_its_rows_and_columns() -> None:
    table = Table(
        caption="All",
        columns=(Column(label="who", is_number=False), Column(label="n", meaning="how many")),
        rows=((Cell(text="a", href="#a"), Cell(text="1", tone=Tone.BAD)),),
        strong_rows=frozenset({0}),
    )

    text = rendered(table)

    assert '<th scope="col" class="number" title="how many">n</th>' in text
    assert '<tr class="strong"><th scope="row" class="short"><a href="#a">a</a></th>' in text
    assert '<td class="number bad">1</td>' in text


def test_a_link_leads_only_into_the_page() -> None:
    columns = (Column(label="x"),)
    cells = ("javascript:alert(1)", "https://example.com", "//example.com", "")

    text = rendered(
        *(
            Table(caption="c", columns=columns, rows=((Cell(text="x", href=href),),))
            for href in cells
        )
    )

    assert "<a" not in text


def test_every_chart_of_a_page_has_its_own_name() -> None:
    line = Line(label="l", values=np.ones(2), color=Color.ACTUAL)
    times = np.array([0.0, 60.0])
    chart = Chart(title="t", meaning="m", unit="", unix_seconds=times, lines=(line,))

    text = rendered(chart, chart)

    assert text.count('id="chart-1"') == text.count('id="chart-2"') == 1
    assert 'aria-labelledby="chart-2-title" aria-describedby="chart-2-summary"' in text
