import re
from base64 import b64encode
from hashlib import sha256
from html.parser import HTMLParser

import msgspec
import numpy as np

from gputide.charts import (
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
    page,
)

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(1)>\u2028"


def every_block(text: str) -> list[Section]:
    """Return a page on which every text is the given one."""
    times = 1_700_000_000 + 60.0 * np.arange(3)
    values = np.array([1.0, np.nan, 3.0])
    line = Line(label=text, values=values, color=Color.ACTUAL)
    curve = Curve(
        label=text,
        x=np.array([0.0, 0.1]),
        y=np.array([2.0, 1.0]),
        notes=(text, text),
        color=Color.PREDICTED,
        chosen=1,
    )
    blocks = (
        Paragraph(text=text),
        Note(text=text),
        Callout(headline=text, reasons=(text,)),
        Figures(figures=(Figure(label=text, value=text, note=text),)),
        Facts(facts=((text, text),)),
        Table(
            caption=text,
            columns=(Column(label=text, meaning=text), Column(label=text)),
            rows=((Cell(text=text, href=text), Cell(text=text, href="#there")),),
        ),
        Chart(
            title=text, meaning=text, unit=text, unix_seconds=times, lines=(line,), time_zone=text
        ),
        Scatter(
            title=text,
            meaning=text,
            x_label=text,
            x_unit=text,
            y_label=text,
            y_unit=text,
            note_label=text,
            curves=(curve,),
            x_linear_below=0.01,
            x_limit=0.1,
            x_limit_label=text,
        ),
    )
    return [Section(title=text, anchor="all", blocks=blocks)] * 2


class Seen(HTMLParser):
    """What a browser would make of the page."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str | None]] = []
        self.scripts: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data: str) -> None:
        if self.tags[-1:] == ["script"]:
            self.scripts.append(data)


def test_hostile_texts_make_no_element_and_no_handler() -> None:
    plain, hostile = Seen(page("t", every_block("x"))), Seen(page(HOSTILE, every_block(HOSTILE)))

    assert hostile.tags == plain.tags
    assert "img" not in hostile.tags
    assert not [name for name, _ in hostile.attributes if name.startswith("on")]
    assert {value for name, value in hostile.attributes if name == "href"} <= {
        "#content", "#all", "#there", "data:,",
    }  # fmt: skip


def test_a_charts_data_survive_hostile_names() -> None:
    texts = re.findall(
        r'<script type="application/json" id="[^"]+">(.*?)</script>',
        page("t", every_block(HOSTILE)),
        re.DOTALL,
    )

    lines, scatter = (msgspec.json.decode(text) for text in texts[:2])
    assert lines["lines"][0]["label"] == HOSTILE
    assert lines["lines"][0]["values"] == [1.0, None, 3.0]
    assert scatter["curves"][0]["notes"] == [HOSTILE, HOSTILE]


def test_the_policy_allows_exactly_the_script_and_the_style_inside() -> None:
    text = page("t", every_block("x"))
    policy = re.search(r'Content-Security-Policy" content="([^"]+)"', text)
    assert policy is not None
    allowed = policy[1].replace("&#x27;", "'")
    script = re.findall(r"<script>(.*?)</script>", text, re.DOTALL)
    style = re.findall(r"<style>(.*?)</style>", text, re.DOTALL)

    for kind, (content,) in (("script-src", script), ("style-src", style)):
        digest = b64encode(sha256(content.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}'" in allowed
    assert "default-src 'none'" in allowed
    assert "unsafe" not in allowed


def test_a_page_refers_to_nothing_outside_itself() -> None:
    text = page("t", every_block("x"))

    assert not re.findall(r"""(?:src|href)=["']?(?:https?:)?//""", text)
    assert "@import" not in text
    assert "url(" not in text


def test_uplots_licence_travels_with_it() -> None:
    assert "The MIT License" in page("t", []) or "MIT" in page("t", [])
