from hypothesis import given
from hypothesis import strategies as st

from gputide.tunnel.agent.offline.schedule import GRACE_SECONDS, Schedule
from gputide.tunnel.protocol import Scrape

TARGET = Scrape(node="n", port=9400, path="/metrics", timeout_ms=1000)


def asked(schedule: Schedule, *times: float) -> None:
    for at in times:
        schedule.asked(TARGET, now_seconds=at)


def test_nothing_is_due_before_the_interval_is_known() -> None:
    schedule = Schedule(max_offline_seconds=3600)
    asked(schedule, 0, 15)
    assert schedule.next_due_seconds() is None
    assert schedule.due(now_seconds=500) == []


def test_an_ask_that_does_not_come_is_overdue_at_once_and_then_each_interval() -> None:
    schedule = Schedule(max_offline_seconds=3600)
    asked(schedule, 0, 15, 30)
    assert schedule.next_due_seconds() == 45 + GRACE_SECONDS
    assert schedule.due(now_seconds=45.4) == []
    assert schedule.due(now_seconds=45.5) == [TARGET]
    assert schedule.due(now_seconds=45.6) == []
    assert schedule.next_due_seconds() == 60 + GRACE_SECONDS


def test_the_next_ask_says_how_many_were_fetched_without_one() -> None:
    schedule = Schedule(max_offline_seconds=3600)
    asked(schedule, 0, 15, 30)
    schedule.due(now_seconds=46)
    schedule.due(now_seconds=61)
    assert schedule.asked(TARGET, now_seconds=75) == 2
    assert schedule.asked(TARGET, now_seconds=90) == 0
    # the outage is no interval
    assert schedule.next_due_seconds() == 105 + GRACE_SECONDS


def test_after_a_pause_of_our_own_it_goes_on_with_the_next_one() -> None:
    schedule = Schedule(max_offline_seconds=3600)
    asked(schedule, 0, 15, 30)
    assert schedule.due(now_seconds=30 + 15 * 20) == [TARGET]
    assert schedule.due(now_seconds=30 + 15 * 20 + 1) == []


def test_a_target_that_nobody_wants_any_more_is_dropped() -> None:
    schedule = Schedule(max_offline_seconds=100)
    asked(schedule, 0, 15, 30)
    assert schedule.due(now_seconds=131) == []
    assert len(schedule) == 0


@given(jitter=st.lists(st.floats(-0.1, 0.1), min_size=5, max_size=20))
def test_asks_that_come_in_time_are_never_overdue(jitter: list[float]) -> None:
    schedule = Schedule(max_offline_seconds=3600)
    for number, late in enumerate(jitter):
        at = 15 * number + late
        if number > 3:
            assert schedule.due(now_seconds=at - 0.2) == []
        schedule.asked(TARGET, now_seconds=at)
