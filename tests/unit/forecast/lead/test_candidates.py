"""Candidates say what other days and the newest minutes say, from the past alone."""

import numpy as np

from gputide.forecast import Lead
from gputide.forecast.lead.candidates import (
    CANDIDATE_NAMES,
    RULES,
    SEASONAL_COUNT,
    Days,
    Live,
    Seasons,
    combine,
    look_up_seasons,
    read_live,
    read_outcome,
    tabulate_days,
)
from gputide.forecast.lead.plan import Plan

PLAN = Plan(step_seconds=3600, lead=Lead(first_step=1, last_step=3))


def counted_days(days: int = 14) -> np.ndarray:
    """Return `[1, D, 24]` whose values are 100 * day + hour."""
    return (100.0 * np.arange(days)[:, None] + np.arange(24)).astype(np.float32)[None]


def row(days: Days) -> int:
    return next(i for i, rule in enumerate(RULES) if rule.days is days)


def test_yesterday_says_the_maximum_under_the_lead_after_the_same_hour() -> None:
    seasons = look_up_seasons(tabulate_days(counted_days(), PLAN), 14, slice(None))

    assert seasons.envelopes[row(Days.YESTERDAY), 0, 5] == 1307  # hours 5, 6, 7 of day 13
    assert seasons.envelopes[row(Days.LAST_WEEK), 0, 5] == 707
    assert seasons.levels[Days.YESTERDAY.value - 1, 0, 5] == 1304


def test_hours_that_yesterday_had_not_finished_come_from_the_day_before() -> None:
    seasons = look_up_seasons(tabulate_days(counted_days(), PLAN), 14, slice(None))

    assert seasons.envelopes[row(Days.YESTERDAY), 0, 21] == 1323
    assert seasons.envelopes[row(Days.YESTERDAY), 0, 22] == 1300  # 22 and 23 of day 12, 0 of day 13
    assert seasons.envelopes[row(Days.LAST_WEEK), 0, 23] == 801  # known long ago


def test_every_candidate_has_a_name_of_its_own() -> None:
    assert len(set(CANDIDATE_NAMES)) == SEASONAL_COUNT + PLAN.persistence_count
    assert CANDIDATE_NAMES[0] == "yesterday"
    assert CANDIDATE_NAMES[2] == "last week within 10 min"
    assert CANDIDATE_NAMES[SEASONAL_COUNT] == "highest of last 1 min"


def test_a_day_is_judged_by_what_was_known_before_it() -> None:
    days = counted_days()
    changed = days.copy()
    changed[:, 10:] += 5000

    before, after = (
        look_up_seasons(tabulate_days(d, PLAN), 10, slice(None)) for d in (days, changed)
    )

    np.testing.assert_array_equal(before.envelopes, after.envelopes)
    np.testing.assert_array_equal(before.levels, after.levels)


def test_a_lost_day_speaks_through_the_day_before_it() -> None:
    days = counted_days()
    days[:, 13] = np.nan

    seasons = look_up_seasons(tabulate_days(days, PLAN), 14, slice(None))

    assert seasons.envelopes[row(Days.YESTERDAY), 0, 5] == 1207


def test_today_twice_as_busy_doubles_the_season_or_adds_the_gap() -> None:
    seasons = Seasons(
        envelopes=np.full((len(RULES), 1, 1), 4, dtype=np.float32),
        levels=np.full((len(Days), 1, 1), 2, dtype=np.float32),
    )
    live = Live(
        level=np.full((1, 1), 4, dtype=np.float32),
        persistence=np.full((6, 1, 1), 5, dtype=np.float32),
        outcome=np.full((1, 1), np.nan, dtype=np.float32),
    )

    candidates = combine(seasons, live)[:, 0, 0]

    count = len(RULES)
    np.testing.assert_allclose(candidates[:count], 4)
    np.testing.assert_allclose(candidates[count : 2 * count], 8, rtol=0.02)
    np.testing.assert_allclose(candidates[2 * count : SEASONAL_COUNT], 6)
    np.testing.assert_allclose(candidates[SEASONAL_COUNT:], 5)


def test_the_newest_minutes_tell_their_maxima_and_unknown_ones_nothing() -> None:
    plan = Plan(step_seconds=60, lead=Lead(first_step=1, last_step=2))
    values = np.full((1, 400), 1, dtype=np.float32)
    values[0, 397] = 9
    values[0, 399] = np.nan

    live = read_live(values, plan, np.array([399]))

    np.testing.assert_array_equal(live.persistence[:4, 0, 0], [np.nan, 9, 9, 9])
    assert live.level[0, 0] == np.float32(np.nanmean(values[0, -20:]))


def test_the_outcome_is_the_maximum_over_the_lead_or_unknown() -> None:
    values = np.array([[1, 5, 2, 3, np.nan, np.nan, np.nan]], dtype=np.float32)

    outcome = read_outcome(values, PLAN, np.array([0, 1, 2, 3, 6]))

    np.testing.assert_array_equal(outcome, [[5, 3, 3, np.nan, np.nan]])
