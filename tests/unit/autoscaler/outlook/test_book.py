from math import isnan

import numpy as np

from fakes.autoscalers import tide
from gputide.autoscaler.history.ring import Ring
from gputide.autoscaler.model import Key
from gputide.autoscaler.outlook.book import MIN_MINUTES, Book
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
    assert book.is_due(KEYS, minute=NEWEST + 1439) == []
    assert book.is_due(KEYS, minute=NEWEST + 1440) == KEYS
    book.issue(minute=NEWEST)
    assert all(0.2 < one.upper < 1.2 for key in KEYS if (one := book.get(key)))


async def test_a_young_history_is_fitted_again_soon_and_a_bare_one_not_at_all() -> None:
    _, book = book_of(MIN_MINUTES + 1)
    assert await book.fit(KEYS, minute=NEWEST) == 3
    assert book.is_due(KEYS, minute=NEWEST + 120) == KEYS

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
