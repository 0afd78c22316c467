from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.exposition import ExpositionError, Family, Format, Kind, Sample, parse, render

SCRAPES = Path(__file__).parents[4] / "shared/data/scrapes"

names = st.from_regex(r"[a-zA-Z_][a-zA-Z0-9_]{0,8}", fullmatch=True)
texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
values = st.floats(allow_nan=False)
labels = st.dictionaries(names, texts, max_size=3).map(lambda d: tuple(d.items()))


@given(
    label_sets=st.lists(labels, min_size=1, max_size=4),
    value=values,
    target=st.sampled_from(Format),
)
def test_what_is_rendered_is_parsed_back(
    label_sets: list[tuple[tuple[str, str], ...]], value: float, target: Format
) -> None:
    family = Family(
        "m", Kind.GAUGE, 'help "h"', tuple(Sample("m", each, value) for each in label_sets)
    )

    assert parse(render([family], target), target) == (family,)


@pytest.mark.parametrize(
    ("page", "message"),
    [
        (b"1abc 3\n", "line 1: starts with no metric name"),
        (b"a 1\na one\n", "line 2: 'one' is no number"),
        (b"a 1_0\n", "line 1: '1_0' is no number"),
        (b'a{x="1",x="2"} 1\n', "line 1: label x twice"),
        (b'a{x="1} 1\n', "line 1: no label at column 3"),
        (b"a{x=1} 1\n", "line 1: no label at column 3"),
        (b"# TYPE a meter\n", "line 1: 'meter' is no metric type"),
        (b"a\n", "line 1: has 0 fields after the labels, not 1 or 2"),
        (b"a 1\n\xff 2\n", "line 2: is not UTF-8"),
    ],
)
def test_a_broken_line_is_named(page: bytes, message: str) -> None:
    with pytest.raises(ExpositionError) as error:
        parse(page)

    assert str(error.value) == message


def test_an_openmetrics_page_that_was_cut_off_is_refused() -> None:
    with pytest.raises(ExpositionError, match="cut off"):
        parse(b"a 1\n", Format.OPENMETRICS)


def test_text_after_the_end_is_refused() -> None:
    with pytest.raises(ExpositionError, match="line 3: text after # EOF"):
        parse(b"a 1\n# EOF\nb 1\n", Format.OPENMETRICS)


def test_a_histogram_keeps_its_parts_together() -> None:
    page = b'# TYPE h histogram\nh_bucket{le="1"} 1\nh_count 1\nh_sum 0.5\nother 3\n'

    assert [(f.name, f.kind, len(f.samples)) for f in parse(page)] == [
        ("h", Kind.HISTOGRAM, 3),
        ("other", Kind.UNKNOWN, 1),
    ]


def test_exemplars_are_left_out() -> None:
    page = b'# TYPE a counter\na_total{x="#"} 3 # {trace="1"} 1.0\n# EOF\n'

    assert parse(page, Format.OPENMETRICS)[0].samples == (Sample("a_total", (("x", "#"),), 3.0),)


@pytest.mark.shared
def test_every_recorded_page_is_read_whole() -> None:
    if not SCRAPES.is_dir():
        pytest.skip("recorded pages are not beside this checkout")
    for path in sorted(SCRAPES.glob("*.prom")):
        page = path.read_bytes()
        lines = [line for line in page.decode().splitlines() if line and not line.startswith("#")]
        samples = [s for family in parse(page) for s in family.samples]
        assert len(samples) == len(lines), path.name
