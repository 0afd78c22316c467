from hypothesis import given
from hypothesis import strategies as st

from gputide.exporter.collection.xids import MAX_CODES, MAX_GPUS, XidLedger
from gputide.exporter.model import XidCount


def test_events_are_counted_by_gpu_and_code_with_the_last_time() -> None:
    ledger = XidLedger()
    for at, (uuid, xid) in enumerate([("a", 79), ("a", 31), ("b", 79), ("a", 79)]):
        ledger.add(uuid, xid, now_seconds=at)

    assert ledger.of("a") == (
        XidCount(xid=31, count=1, last_seen_seconds=1),
        XidCount(xid=79, count=2, last_seen_seconds=3),
    )
    assert ledger.of("c") == ()


def test_there_is_room_for_so_many_codes_and_gpus_and_known_ones_still_count() -> None:
    ledger = XidLedger()

    assert all(ledger.add("a", xid, now_seconds=0) for xid in range(MAX_CODES))
    assert not ledger.add("a", MAX_CODES, now_seconds=0)
    assert ledger.add("a", 3, now_seconds=1)
    assert all(ledger.add(f"gpu{i}", 1, now_seconds=0) for i in range(MAX_GPUS - 1))
    assert not ledger.add("one more", 1, now_seconds=0)


@given(events=st.lists(st.tuples(st.sampled_from("abc"), st.integers(1, 9))))
def test_no_event_is_lost_or_counted_twice(events: list[tuple[str, int]]) -> None:
    ledger = XidLedger()
    for uuid, xid in events:
        ledger.add(uuid, xid, now_seconds=0)

    assert sum(each.count for uuid in "abc" for each in ledger.of(uuid)) == len(events)
