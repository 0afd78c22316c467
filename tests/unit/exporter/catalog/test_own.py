import re

from gputide.exporter.catalog import own
from gputide.exposition import Kind

ROWS = (*own.FROM_SNAPSHOT, *own.FROM_PROCESS)


def test_names_are_ours_and_stand_once() -> None:
    names = [row.name for row in ROWS]

    assert [n for n in names if not re.fullmatch(r"gputide_(exporter|gpu)_[a-z_]+", n)] == []
    assert len(set(names)) == len(names)


def test_names_say_their_type() -> None:
    for row in ROWS:
        assert row.name.endswith("_total") == (row.kind is Kind.COUNTER)
        assert row.name.endswith("_info") == (row.kind is Kind.INFO)


def test_clock_events_are_single_bits_with_names_of_their_own() -> None:
    assert all(bit.bit_count() == 1 for bit in own.CLOCK_EVENTS)
    assert len(set(own.CLOCK_EVENTS.values())) == len(own.CLOCK_EVENTS)
