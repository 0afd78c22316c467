import pytest

from fakes.clock import FakeClock
from gputide.kube.errors import BusyError, ConflictError, KubeError, UnreachableError
from gputide.kube.retry import ATTEMPTS, Retry


def busy(code: int = 503, *, wish: float | None = None) -> BusyError:
    error = BusyError("GET /x", "busy", code=code)
    error.retry_after_seconds = wish
    return error


class Calls:
    """Fails with each error in turn, then succeeds."""

    def __init__(self, *errors: KubeError) -> None:
        self.errors = list(errors)
        self.made = 0
        self.left: list[float] = []

    async def __call__(self, seconds_left: float) -> str:
        self.made += 1
        self.left.append(seconds_left)
        if self.errors:
            raise self.errors.pop(0)
        return "done"


async def run(calls: Calls, clock: FakeClock, *, idempotent: bool = True, jitter: float = 1) -> str:
    retry = Retry(clock, lambda: jitter)
    return await retry.run(calls, is_idempotent=idempotent, seconds=15)


async def test_a_reason_that_passes_is_waited_out_longer_each_time() -> None:
    clock, calls = FakeClock(), Calls(busy(), UnreachableError("GET /x", "away"), busy())

    assert await run(calls, clock) == "done"
    assert clock.slept == [0.25, 0.5, 1.0]


async def test_the_pauses_are_jittered_down_to_nothing() -> None:
    clock = FakeClock()

    await run(Calls(busy(), busy()), clock, jitter=0)

    assert clock.slept == [0, 0]


async def test_after_the_last_attempt_the_error_is_told() -> None:
    calls = Calls(*(busy() for _ in range(9)))

    with pytest.raises(BusyError):
        await run(calls, FakeClock())

    assert calls.made == ATTEMPTS


async def test_the_servers_wish_is_honoured_within_the_deadline() -> None:
    clock = FakeClock()

    await run(Calls(busy(429, wish=3)), clock)

    assert clock.slept == [3.25]


async def test_a_wish_beyond_the_deadline_is_not_waited_for() -> None:
    clock, calls = FakeClock(), Calls(busy(429, wish=60))

    with pytest.raises(BusyError):
        await run(calls, clock)

    assert (calls.made, clock.slept) == (1, [])


async def test_a_write_that_may_have_happened_is_not_sent_twice() -> None:
    calls = Calls(UnreachableError("POST /x", "cut"))

    with pytest.raises(UnreachableError):
        await run(calls, FakeClock(), idempotent=False)

    assert calls.made == 1


async def test_a_write_that_was_turned_away_is_sent_again() -> None:
    calls = Calls(busy(429))

    assert await run(calls, FakeClock(), idempotent=False) == "done"


async def test_a_refusal_is_told_at_once() -> None:
    calls = Calls(ConflictError("PUT /x", "changed"))

    with pytest.raises(ConflictError):
        await run(calls, FakeClock())

    assert calls.made == 1


async def test_each_attempt_has_what_the_ones_before_left() -> None:
    calls = Calls(busy(429, wish=3), busy(429, wish=5))

    await run(calls, FakeClock(), jitter=0)

    assert calls.left == [15, 12, 7]
