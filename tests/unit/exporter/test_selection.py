from gputide.exporter.catalog import FIELDS, own
from gputide.exporter.selection import default_selection, full_selection


def test_the_default_is_what_the_catalog_marks() -> None:
    chosen = default_selection()

    assert [each.row for each in chosen.fields] == [row for row in FIELDS if row.is_default]
    assert [label.name for label in chosen.labels] == ["DCGM_FI_DRIVER_VERSION"]
    assert chosen.events == ()


def test_the_full_one_has_every_field_and_event_but_few_labels() -> None:
    chosen = full_selection()

    assert [each.row for each in chosen.fields] == list(FIELDS)
    assert [each.row for each in chosen.events] == list(own.EVENTS)
    assert chosen.labels == default_selection().labels
