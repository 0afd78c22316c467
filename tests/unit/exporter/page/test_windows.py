from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fakes import gpu_nodes
from fakes.gpu_nodes import IDLE, device_status, gpu, node
from gputide.exporter.fields import Field
from gputide.exporter.model import Snapshot, XidCount
from gputide.exporter.page.windows import MAX_SAMPLES, EventWindows

GPU = gpu("Tesla T4")


def windows() -> EventWindows:
    return EventWindows(xid_window_seconds=300, clock_event_window_seconds=60)


def at(seconds: float, *, bitmap: float = 1, xids: tuple[XidCount, ...] = ()) -> Snapshot:
    status = device_status(GPU, {**IDLE, Field.CLOCK_EVENT_REASONS: bitmap})
    assert status.reading is not None
    reading = replace(status.reading, at_seconds=seconds)
    return replace(node(replace(status, reading=reading, xids=xids)), at_seconds=seconds)


def xid(count: int, seen: float, code: int = 79) -> tuple[XidCount, ...]:
    return (XidCount(xid=code, count=count, last_seen_seconds=seen),)


def test_xids_count_while_they_are_inside_the_window() -> None:
    w = windows()
    counts = []
    for seconds, seen in ((0, xid(2, 0)), (100, xid(3, 90)), (299, xid(3, 90)), (391, xid(3, 90))):
        w.observe(at(seconds, xids=seen))
        counts.append(w.xids(GPU.uuid)[79])

    assert counts == [2, 3, 3, 0]


def test_a_code_that_left_the_window_is_zero_and_not_gone() -> None:
    w = windows()
    w.observe(at(0, xids=xid(1, 0)))
    w.observe(at(1_000, xids=xid(1, 0)))

    assert w.xids(GPU.uuid) == {79: 0}


def test_a_reader_that_started_anew_counts_from_zero() -> None:
    w = windows()
    w.observe(at(0, xids=xid(9, 0)))
    w.observe(at(10, xids=xid(1, 9)))

    assert w.xids(GPU.uuid) == {79: 1}


def test_clock_events_count_readings_with_their_bit() -> None:
    w = windows()
    for seconds, bitmap in ((0, 1), (20, 1 | 4), (40, 4)):
        w.observe(at(seconds, bitmap=bitmap))

    events = w.clock_events(GPU.uuid)
    assert (events["gpu_idle"], events["power_cap"], events["hw_thermal"]) == (2, 2, 0)

    w.observe(at(90, bitmap=0))
    assert w.clock_events(GPU.uuid)["power_cap"] == 1


def test_totals_count_each_beginning_and_every_xid_since_the_start() -> None:
    w = windows()
    for seconds, bitmap in ((0, 4), (20, 4), (40, 0), (1_000, 4 | 1)):
        w.observe(at(seconds, bitmap=bitmap, xids=xid(int(seconds / 20) + 1, seconds)))

    totals = w.clock_event_totals(GPU.uuid)
    assert (totals["power_cap"], totals["gpu_idle"], totals["sync_boost"]) == (2, 1, 0)
    assert w.xid_totals(GPU.uuid) == {79: 51}
    assert w.clock_event_totals("GPU-unknown") == {}


def test_one_reading_counts_once_however_often_it_is_served() -> None:
    w = windows()
    for _ in range(3):
        w.observe(at(5))

    assert w.clock_events(GPU.uuid)["gpu_idle"] == 1


def test_a_gpu_that_tells_no_bitmap_has_no_events() -> None:
    w = windows()
    w.observe(at(5, bitmap=float("nan")))
    w.observe(gpu_nodes.no_gpu())

    assert w.clock_events(GPU.uuid) == {}
    assert w.xids(GPU.uuid) == {}


def test_what_is_kept_is_bounded() -> None:
    w = EventWindows(xid_window_seconds=10, clock_event_window_seconds=1e9)
    for step in range(MAX_SAMPLES + 10):
        w.observe(at(float(step), xids=xid(step + 1, float(step))))

    assert w.clock_events(GPU.uuid)["gpu_idle"] == MAX_SAMPLES
    assert w.xids(GPU.uuid) == {79: 10}


@given(gaps=st.lists(st.tuples(st.integers(0, 200), st.integers(0, 3)), min_size=1, max_size=20))
def test_the_window_holds_exactly_the_events_since_its_start(gaps: list[tuple[int, int]]) -> None:
    w = windows()
    now, total, happened = 0, 0, []
    for gap, events in gaps:
        now += gap
        total += events
        happened += [now] * events
        w.observe(at(now, xids=xid(total, now) if total else ()))

    expected = sum(1 for moment in happened if moment > now - 300)
    assert w.xids(GPU.uuid).get(79, 0) == expected
