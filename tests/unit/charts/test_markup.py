from html.parser import HTMLParser

from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.charts.markup import Markup, element, join


class Reader(HTMLParser):
    """Collects what a browser would see."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, list[tuple[str, str | None]]]] = []
        self.text = ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, attrs))

    def handle_data(self, data: str) -> None:
        self.text += data


TEXT = st.text(st.characters(codec="utf-8", exclude_characters="\r\0"), max_size=30)


@settings(deadline=None, max_examples=80)
@given(child=TEXT, title=TEXT)
def test_whatever_a_text_holds_it_stays_text(child: str, title: str) -> None:
    seen = Reader(element("p", child, title=title))

    assert seen.tags == [("p", [("title", title)])]
    assert seen.text == child


def test_markup_is_not_escaped_twice() -> None:
    assert element("p", element("b", "<")) == "<p><b>&lt;</b></p>"
    assert join("<", Markup("<br>")) == "&lt;<br>"


def test_attributes_are_named_as_html_names_them() -> None:
    made = element("a", "x", class_="c", aria_label="l", hidden=True, title=None, href=False)

    assert made == '<a class="c" aria-label="l" hidden>x</a>'
