from gputide.exporter.page.model import Block, Budget, Cut, Page, tail
from gputide.exposition import Family, Format, Kind, Sample, parse

BLOCK = Block.of("DCGM_ENERGY", Kind.COUNTER, "Energy.", ['DCGM_ENERGY{gpu="0"} 1\n'])
OWN = Family("own", Kind.GAUGE, "Own.", (Sample("own", (), 2.0),))
MORE = Family("age", Kind.GAUGE, "Age.", (Sample("age", (), 0.5),))


def test_a_page_is_its_blocks_then_our_own_families_then_what_comes_later() -> None:
    page = Page((BLOCK,), (OWN,), {})

    names = [family.name for family in parse(page.encode(Format.TEXT, [MORE]))]
    assert names == ["DCGM_ENERGY", "own", "age"]
    assert page.series_count == 1


def test_openmetrics_ends_once_and_after_everything() -> None:
    page = Page((BLOCK,), (OWN,), {})
    body = page.body(Format.OPENMETRICS)

    assert b"# EOF" not in body
    assert (body + tail([MORE], Format.OPENMETRICS)).endswith(b"age 0.5\n# EOF\n")
    assert page.encode(Format.OPENMETRICS).count(b"# EOF\n") == 1
    assert b"# TYPE DCGM_ENERGY unknown\n" in body


def test_lone_surrogates_do_not_break_the_page() -> None:
    block = Block.of("a", Kind.GAUGE, "h\udcff", ['a{x="\udcff"} 1\n'])

    assert parse(Page((block,), (), {}).encode())[0].samples[0].labels == (("x", "?"),)


def test_a_budget_keeps_what_comes_first_and_counts_the_rest() -> None:
    budget = Budget(3)

    assert budget.take(["a", "b"]) == ["a", "b"]
    assert budget.take(["c", "d", "e"]) == ["c"]
    assert budget.take(["f"]) == []
    assert (budget.taken, budget.cuts) == (3, {Cut.SERIES: 3})


def test_nothing_cut_is_not_noted() -> None:
    budget = Budget(3)
    budget.cut(Cut.PROCESSES, 0)

    assert budget.cuts == {}
