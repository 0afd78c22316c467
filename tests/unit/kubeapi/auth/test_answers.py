import asyncio

import pytest

from fakes.clock import FakeClock
from gputide.kubeapi.auth.answers import Answers
from gputide.kubeapi.auth.ports import CacheBounds


class Oracle:
    def __init__(self) -> None:
        self.count = 0
        self.gate = asyncio.Event()
        self.gate.set()
        self.is_broken = False

    async def __call__(self) -> int:
        self.count += 1
        await self.gate.wait()
        if self.is_broken:
            raise LookupError
        return self.count


async def test_an_answer_counts_for_its_time() -> None:
    clock, oracle = FakeClock(), Oracle()
    answers: Answers[int] = Answers(CacheBounds(seconds=10), clock)
    assert [await answers.get("a", oracle), await answers.get("a", oracle)] == [1, 1]
    clock.seconds += 10
    assert await answers.get("a", oracle) == 2


async def test_whoever_asks_the_same_meanwhile_waits_for_the_one_question() -> None:
    oracle = Oracle()
    oracle.gate.clear()
    answers: Answers[int] = Answers(CacheBounds(), FakeClock())
    asked = [asyncio.create_task(answers.get("a", oracle)) for _ in range(5)]
    await asyncio.wait(asked, timeout=0)
    asked[0].cancel()  # one who goes away does not end it for the others
    await asyncio.wait(asked[:1])
    oracle.gate.set()
    assert await asyncio.gather(*asked[1:]) == [1, 1, 1, 1]


async def test_a_failure_is_not_kept() -> None:
    oracle = Oracle()
    oracle.is_broken = True
    answers: Answers[int] = Answers(CacheBounds(), FakeClock())
    with pytest.raises(LookupError):
        await answers.get("a", oracle)
    oracle.is_broken = False
    assert await answers.get("a", oracle) == 2


async def test_a_question_has_a_deadline() -> None:
    oracle = Oracle()
    oracle.gate.clear()
    answers: Answers[int] = Answers(CacheBounds(deadline_seconds=0.01), FakeClock())
    with pytest.raises(TimeoutError):
        await answers.get("a", oracle)


async def test_the_oldest_answers_go_beyond_the_bound() -> None:
    oracle = Oracle()
    answers: Answers[int] = Answers(CacheBounds(max_answers=2), FakeClock())
    for key in "abc":
        await answers.get(key, oracle)
    assert await answers.get("c", oracle) == 3
    assert await answers.get("a", oracle) == 4
