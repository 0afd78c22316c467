import asyncio
from math import isnan

import numpy as np

from fakes.autoscalers import tide
from gputide.autoscaler.history.ring import Ring
from gputide.autoscaler.model import Key
from gputide.autoscaler.outlook.book import BATCH_ROWS, MIN_MINUTES, Book
from gputide.autoscaler.outlook.fit import Terms

KEYS = [Key(namespace="a", name=str(n)) for n in range(3)]
TERMS = Terms(lead_steps=3, quantile=0.95, zone="UTC")
NEWEST = 29_833_334
WEEK = 7 * 1440


def book_of(minutes: int, keys: list[Key] = KEYS) -> tuple[Ring, Book]:
    ring = Ring(WEEK)
    ring.advance(NEWEST)
    book = Book(ring, history_minutes=WEEK)
    for key in keys:
        row = ring.add()
        numbers = np.arange(NEWEST - minutes + 1, NEWEST + 1)
        ring.fill(row, tide(None, numbers), first_minute=int(numbers[0]) if minutes else NEWEST)
        book.put(key, row, TERMS)
    return ring, book


async def test_every_workload_is_fitted_once_a_day_and_bounded_each_minute() -> None:
    _, book = book_of(WEEK)
    assert book.is_due(KEYS, minute=NEWEST) == KEYS
    assert await book.fit(KEYS, minute=NEWEST) == 3
    first = min(one.due_minute for key in KEYS if (one := book.get(key)))
    assert NEWEST < first <= NEWEST + 1440
    assert await book.fit(KEYS, minute=first) == 3
    assert book.is_due(KEYS, minute=first + 1439) == []
    assert book.is_due(KEYS, minute=first + 1440) == KEYS
    book.issue(minute=NEWEST)
    uppers = [one.upper for key in KEYS if (one := book.get(key))]
    assert len(uppers) == 3
    assert all(0.2 < upper < 1.2 for upper in uppers)


async def test_what_is_loaded_at_once_is_not_fitted_at_once_ever_after() -> None:
    keys = [Key(namespace="a", name=f"w{n}") for n in range(3 * BATCH_ROWS)]
    _, book = book_of(MIN_MINUTES + 1, keys)
    while due := book.is_due(keys, minute=NEWEST):
        await book.fit(due, minute=NEWEST)
    dues = [one.due_minute for key in keys if (one := book.get(key))]
    batches = [set(dues[at : at + BATCH_ROWS]) for at in range(0, len(dues), BATCH_ROWS)]
    assert [len(batch) for batch in batches] == [1, 1, 1]  # together, so that old fits can go
    assert len(set(dues)) == 3


async def test_a_new_fit_bounds_the_minute_that_has_its_bounds_already() -> None:
    ring, book = book_of(WEEK)
    book.issue(minute=NEWEST)
    await book.fit(KEYS, minute=NEWEST)
    entry = book.get(KEYS[0])
    assert entry is not None
    assert 0.2 < entry.upper < 1.2
    before = entry.upper
    await book.fit(KEYS, minute=NEWEST)
    assert len(entry.issued) == 1  # judged once
    ring.advance(NEWEST + 1)
    book.issue(minute=NEWEST + 1)
    assert entry.upper != before


async def test_a_fit_of_a_workload_that_was_made_anew_meanwhile_is_not_taken() -> None:
    ring, book = book_of(WEEK)

    async def make_anew() -> None:
        book.drop(KEYS[0])
        book.put(KEYS[0], ring.add(), TERMS)

    # the fit comes first, and waits for its thread
    await asyncio.gather(book.fit(KEYS, minute=NEWEST), make_anew())
    fresh, other = book.get(KEYS[0]), book.get(KEYS[1])
    assert fresh is not None
    assert fresh.fit is None
    assert fresh.due_minute == 0
    assert other is not None
    assert other.fit is not None


async def test_a_young_history_is_fitted_again_soon_and_a_bare_one_not_at_all() -> None:
    _, book = book_of(MIN_MINUTES + 1)
    assert await book.fit(KEYS, minute=NEWEST) == 3
    assert book.is_due(KEYS, minute=NEWEST + 120) == KEYS
    await book.fit(KEYS, minute=NEWEST)
    assert book.is_due(KEYS, minute=NEWEST + 119) == []

    _, bare = book_of(MIN_MINUTES - 1)
    assert await bare.fit(KEYS, minute=NEWEST) == 0
    bare.issue(minute=NEWEST)
    assert all(isnan(one.upper) for key in KEYS if (one := bare.get(key)))


async def test_a_fit_that_is_too_old_bounds_nothing() -> None:
    ring, book = book_of(WEEK)
    await book.fit(KEYS, minute=NEWEST)
    ring.advance(NEWEST + 3 * 1440)
    book.issue(minute=NEWEST + 3 * 1440)
    assert all(isnan(one.upper) for key in KEYS if (one := book.get(key)))


async def test_bounds_are_judged_by_what_came() -> None:
    ring, book = book_of(WEEK, KEYS[:1])
    await book.fit(KEYS[:1], minute=NEWEST)
    for passed in range(1, 130):
        minute = NEWEST + passed
        ring.advance(minute)
        entry = book.get(KEYS[0])
        assert entry is not None
        came = 9.0 if passed == 100 else float(tide(None, np.array([minute]))[0])
        ring.write([entry.row], np.array([came]), minute=minute)
        book.note({KEYS[0]: came}, minute=minute)
        book.issue(minute=minute)
    verdict = entry.verdict
    assert verdict is not None
    assert verdict.coverage_ratio is not None
    assert 0.9 < verdict.coverage_ratio < 1  # the three bounds before the burst did not hold
    assert entry.peak == 9.0


async def test_changed_terms_and_another_row_begin_anew() -> None:
    _, book = book_of(WEEK)
    await book.fit(KEYS, minute=NEWEST)
    book.put(KEYS[0], 0, Terms(lead_steps=9, quantile=0.95, zone="UTC"))
    assert book.is_due(KEYS, minute=NEWEST) == [KEYS[0]]
    book.drop(KEYS[1])
    assert book.get(KEYS[1]) is None
    assert len(book) == 2
