"""Sections in, one HTML file out: no request, no inline handler, every text escaped."""

from base64 import b64encode
from collections.abc import Sequence
from hashlib import sha256

from gputide.charts import assets
from gputide.charts.blocks import Renderer
from gputide.charts.markup import Markup, element, join
from gputide.charts.model import Section
from gputide.charts.texts import LANGUAGES, Language, Texts


def page(title: str, sections: Sequence[Section], language: Language = "en") -> str:
    """Return one HTML file that shows the sections; raise MissingChartsError without uPlot.

    It opens from a disk without a network: script, style and data lie inside, and its
    content security policy forbids everything else.
    """
    texts = LANGUAGES[language]
    renderer = Renderer(texts)
    body = element(
        "body",
        element("a", texts.skip, href="#content", class_="skip"),
        _header(title, texts),
        _contents(sections, texts),
        element("main", *(renderer.section(section) for section in sections), id="content"),
        element("script", Markup(assets.script())),
    )
    return f"<!doctype html>\n{element('html', _head(title), body, lang=texts.tag)}\n"


def _head(title: str) -> Markup:
    return element(
        "head",
        element("meta", charset="utf-8"),
        element("meta", http_equiv="Content-Security-Policy", content=_policy()),
        element("meta", name="viewport", content="width=device-width, initial-scale=1"),
        element("meta", name="color-scheme", content="light dark"),
        element("meta", name="referrer", content="no-referrer"),
        element("link", rel="icon", href="data:,"),
        element("title", title),
        element("style", Markup(assets.style())),
    )


def _policy() -> str:
    """Return what the page may do: run its own script, wear its own style, and nothing else."""
    return (
        "default-src 'none'; base-uri 'none'; form-action 'none'; img-src data:; "
        f"script-src '{_hash(assets.script())}'; style-src '{_hash(assets.style())}'"
    )


def _hash(text: str) -> str:
    return f"sha256-{b64encode(sha256(text.encode()).digest()).decode()}"


def _header(title: str, texts: Texts) -> Markup:
    theme = element(
        "button",
        texts.to_dark,
        type="button",
        id="theme",
        hidden=True,
        data_dark=texts.to_dark,
        data_light=texts.to_light,
    )
    warning = element("noscript", element("p", texts.needs_script, class_="note"))
    return element("header", element("h1", title), theme, warning)


def _contents(sections: Sequence[Section], texts: Texts) -> Markup:
    top = [section for section in sections if section.level == 2]
    if len(top) < 2:
        return join()
    links = [element("li", element("a", s.title, href=f"#{s.anchor}")) for s in top]
    return element("nav", element("ul", *links), aria_label=texts.contents)
