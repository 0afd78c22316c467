from gputide.autoscaler.status.spam import BURST, MAX_KEPT, REFILL_SECONDS, Spared


def test_many_events_at_once_are_told_and_then_one_in_five_minutes() -> None:
    spared = Spared()
    told = [spared.may_tell("a", now_seconds=0.0) for _ in range(100)]
    assert sum(told) == BURST
    assert spared.may_tell("b", now_seconds=0.0)
    assert not spared.may_tell("a", now_seconds=REFILL_SECONDS - 1)
    assert spared.may_tell("a", now_seconds=2 * REFILL_SECONDS)


def test_a_clock_that_goes_back_gives_nothing_away() -> None:
    spared = Spared()
    assert spared.may_tell("a", now_seconds=1000.0)
    told = [spared.may_tell("a", now_seconds=0.0) for _ in range(100)]
    assert sum(told) == BURST - 1


def test_what_is_kept_is_bounded() -> None:
    spared = Spared()
    for n in range(MAX_KEPT + 10):
        spared.may_tell(str(n), now_seconds=0.0)
    assert len(spared._left) == MAX_KEPT
