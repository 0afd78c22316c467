"""What days say about each other: nearness, likeness, level, growth, and the last hours.

Everything is `[N, D + 1, ...]`: for each known day from all the *other* days, and, last, for the
day to come. The former show how far a forecast can be trusted. That they see later days too is no
look-ahead: nothing here knows the day to come, and with every day left out in turn seven days
teach as much as eleven would going forward.
"""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.band.days import Days, Indexes, Single

WEEK_DAYS = 7
LEVEL_FLOOR = np.float32(0.05)
"""Added to levels before dividing, so that an idle day says nothing about shapes."""

SMALLEST_WEIGHT = 1e-6
"""Instead of 0, so that weights remain where every day is lost or unlike."""

UNSEEN_DAYS = 2
"""Of the days after a day, the next ones are left out: nobody will know them of the day to come."""

ALIKE_WIDTH = 1.5
"""How much further apart than days a week apart usually are, two days still count as alike."""

MAX_GROWTH = 3.0
MAX_LOG_TREND = 0.5
TREND_DAYS = 14
"""A rise is believed if two weeks show it, day of the week by day of the week."""

LIVE_HOURS = 3
LIVE_FLOOR = np.float32(0.1)
MAX_LOG_LIVE = 1.5


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Season:
    """The relations of the days; rows of weights sum to 1."""

    near: Single
    """[N, D + 1, D] weights: recent days, and the same day of the week above all."""

    alike: Single
    """[N, D + 1, D] weights: days like the one a week away."""

    level: Single
    """[N, D] mean of each day."""

    hour_level: Single
    """[N, D, 24] mean of each hour; of the next longer part of a day where bins make no hours."""

    growth: Single
    """[N, D + 1] how far the day before lay above days like itself, as a factor."""

    last_day: Indexes
    """[N, D + 1] the day before, or the nearest that is known."""

    weeks: Single
    """[N, D + 1, D] weights: the day a week before, half as much the one before that, ..."""

    live: Single
    """[N, D + 1] log of the level of the hours before over what the season made one expect."""

    log_trend: Single
    """[N] growth a week over the last two weeks, as a logarithm; 0 where it falls or is unknown."""


def relate(days: Days) -> Season:
    """Return the relations of some days."""
    hour_level = _by_hour(days.mean)
    level = hour_level.mean(axis=2) + LEVEL_FLOOR
    last_day = _day_before(days.trust)
    weeks = _whole_weeks_away(days.trust)
    likeness = _likeness(hour_level, weeks)
    alike = _normalized(day_weights(days.trust, half_life_days=10) * likeness)
    usual = (alike[:, :-1] @ level[:, :, None])[:, :, 0]
    growth = np.asarray(
        np.clip(level / np.maximum(usual, LEVEL_FLOOR), 1 / MAX_GROWTH, MAX_GROWTH), np.float32
    )
    alike_now = _normalized(day_weights(days.trust, half_life_days=5) * likeness)
    return Season(
        near=day_weights(days.trust, half_life_days=5, weekly=5),
        alike=alike,
        level=level,
        hour_level=hour_level,
        growth=np.take_along_axis(growth, last_day, axis=1),
        last_day=last_day,
        weeks=_filled(weeks, last_day),
        live=_live(days, alike_now),
        log_trend=_log_trend(level),
    )


def day_weights(trust: Single, *, half_life_days: float, weekly: float = 1.0) -> Single:
    """Return how much each day says about each other one, `[N, D + 1, D]`.

    Halves with the distance; a day whole weeks away counts `weekly` times; a day says nothing about
    itself, nor the next ones about it, and a lost one (`trust[N, D]` is 0) next to nothing.
    """
    days = trust.shape[1]
    after = np.arange(days)[None, :] - np.arange(days + 1)[:, None]
    distance = np.abs(after)
    base = np.where(distance > 0, 0.5 ** (np.maximum(distance - 1, 0) / half_life_days), 0.0)
    base = np.where(distance % WEEK_DAYS == 0, weekly * base, base)
    base = np.where((after > 0) & (after <= UNSEEN_DAYS), 1e-3 * base, base)
    return _normalized(base[None] * np.maximum(trust, SMALLEST_WEIGHT)[:, None])


def _likeness(profile: Single, weeks: Single) -> Single:
    """Return how alike each day is to those whole weeks from each target, 0 to 1, `[N, D + 1, D]`.

    Last week's day, and half as much the one before it, are samples of the coming one: what is as
    close to them as days a week apart usually are to each other, counts. Where weeks mean nothing
    that is every day.
    """
    count = profile.shape[1]
    if count <= WEEK_DAYS:
        return np.ones((len(profile), count + 1, count), np.float32)
    apart = np.abs(profile[:, :, None] - profile[:, None]).mean(axis=3)
    pairs = np.arange(WEEK_DAYS, count)
    width = ALIKE_WIDTH * np.median(apart[:, pairs, pairs - WEEK_DAYS], axis=1) + 1e-4
    likeness = weeks @ np.exp(-np.square(apart / width[:, None, None]))
    likeness[~weeks.any(axis=2)] = 1
    return np.asarray(np.maximum(likeness, SMALLEST_WEIGHT), np.float32)


def _whole_weeks_away(trust: Single) -> Single:
    """Return weights of the known days one, two, ... weeks before each target, else after it."""
    days = trust.shape[1]
    before = np.arange(days + 1)[:, None] - np.arange(days)[None, :]
    halved = np.where(before % WEEK_DAYS == 0, 0.5 ** (np.abs(before) / WEEK_DAYS), 0)
    known = halved * (before != 0) * (trust[:, None] > 0)
    earlier = known * (before > 0)
    return _normalized(np.where(earlier.any(axis=2, keepdims=True), earlier, known))


def _filled(weeks: Single, last_day: Indexes) -> Single:
    """Return the weights with the day before where no day is whole weeks away."""
    days = np.arange(weeks.shape[2])
    is_empty = ~weeks.any(axis=2, keepdims=True)
    return np.asarray(np.where(is_empty, last_day[:, :, None] == days, weeks), np.float32)


def _by_hour(bins: Single) -> Single:
    """Return means over about an hour each, `[N, D, hours]`."""
    hours = next(n for n in range(24, 0, -1) if bins.shape[2] % n == 0)
    width = bins.shape[2] // hours
    by_hour = bins.reshape(*bins.shape[:2], hours, width)
    return np.asarray(by_hour @ np.full(width, 1 / width, np.float32))


def _normalized(weights: Single) -> Single:
    total = weights.sum(axis=2, keepdims=True)
    return np.asarray(weights / np.where(total > 0, total, 1), np.float32)


def _day_before(trust: Single) -> Indexes:
    """Return the day before each target, else the nearest known one, earlier ones first."""
    days = trust.shape[1]
    is_lost = trust <= 0
    if not is_lost.any():  # all rows alike
        is_lost = is_lost[:1]
    out = np.empty((len(is_lost), days + 1), np.intp)
    for target in range(days + 1):
        order = np.array([*range(target - 1, -1, -1), *range(target + 1, days)])
        out[:, target] = order[np.argmin(is_lost[:, order], axis=1)]
    return np.broadcast_to(out, (len(trust), days + 1))


def _live(days: Days, alike: Single) -> Single:
    bins = max(1, days.mean.shape[2] * LIVE_HOURS // 24)
    ending = days.mean[:, :, -bins:].mean(axis=2)
    expected = (alike[:, :-1] @ ending[:, :, None])[:, :, 0]
    live = np.log((ending + LIVE_FLOOR) / (expected + LIVE_FLOOR))
    live = np.where(days.trust > 0, np.clip(live, -MAX_LOG_LIVE, MAX_LOG_LIVE), 0)
    return np.pad(live, ((0, 0), (1, 0))).astype(np.float32)


def _log_trend(level: Single) -> Single:
    if level.shape[1] < TREND_DAYS:
        return np.zeros(len(level), np.float32)
    weekly = np.log(level[:, -WEEK_DAYS:] / level[:, -2 * WEEK_DAYS : -WEEK_DAYS])
    return np.asarray(np.clip(np.median(weekly, axis=1), 0, MAX_LOG_TREND), np.float32)
