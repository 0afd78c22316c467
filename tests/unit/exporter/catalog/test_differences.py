from collections import Counter

from gputide.exporter.catalog.differences import DIFFERENCES, PAGES


def test_each_difference_is_explained_and_belongs_to_a_page() -> None:
    assert all(each.why and each.pages for each in DIFFERENCES)
    assert {page for each in DIFFERENCES for page in each.pages} <= set(PAGES)


def test_no_difference_is_listed_twice_for_a_page() -> None:
    listed = Counter((each.what, page) for each in DIFFERENCES for page in each.pages)

    assert [pair for pair, count in listed.items() if count > 1] == []
