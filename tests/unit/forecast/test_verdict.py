from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.model import FloatArray, History, Reason, Verdict
from gputide.forecast.peers import Scores
from gputide.forecast.verdict import explain, judge

MONDAY = datetime.fromisoformat("2024-01-01")
DAY = 288


def tide(days: int = 14, *, noise: float = 0.2) -> FloatArray:
    """A day between 1 and 9 under noise, on 5-minute steps, `[1, T]`."""
    clock = np.arange(days * DAY)
    rng = np.random.default_rng(0)
    wave = 5 + 4 * np.sin(2 * np.pi * clock / DAY) + noise * rng.normal(size=len(clock))
    return np.maximum(wave, 0)[None]


def verdict_on(values: FloatArray, *, is_censored: FloatArray | None = None) -> Verdict:
    history = History(
        values=values,
        step_seconds=300,
        start_local=MONDAY,
        is_censored=None if is_censored is None else is_censored.astype(bool),
    )
    [verdict] = judge(history, 95)
    return verdict


def test_a_tide_is_in_use_without_reserve() -> None:
    verdict = verdict_on(tide())
    assert verdict.is_seasonal_in_use
    assert verdict.reasons == (Reason.IN_USE,)
    assert verdict.periods_seconds == (86_400,)
    assert verdict.span_seconds == 14 * 86_400
    assert explain(verdict) == ("repeats every 1 d",)
    assert set(verdict.naive_pinball_loss_ratios) == {
        "last-day", "last-week", "max-of-days", "persistence",
    }  # fmt: skip


def walk() -> FloatArray:
    steps = np.random.default_rng(3).normal(size=14 * DAY)
    path = np.cumsum(steps)
    return (path - path.min())[None]


REFUSED = {
    Reason.NO_DATA: np.full((1, 14 * DAY), np.nan),
    Reason.TOO_SHORT: tide(1),
    Reason.TOO_MANY_GAPS: np.where(np.arange(14 * DAY) % 5 < 2, tide(), np.nan),
    Reason.FLAT: np.full((1, 14 * DAY), 3.0),
    Reason.NO_PERIOD: walk(),
}


@pytest.mark.parametrize(("reason", "values"), REFUSED.items())
def test_each_ground_for_refusal_is_named_first(reason: Reason, values: FloatArray) -> None:
    verdict = verdict_on(values)
    assert not verdict.is_seasonal_in_use
    assert verdict.reasons[0] == reason


def test_a_lost_last_day_is_too_many_gaps() -> None:
    values = tide()
    values[0, -DAY:] = np.nan
    assert Reason.TOO_MANY_GAPS in verdict_on(values).reasons


def test_a_lost_day_long_ago_is_no_matter() -> None:
    values = tide()
    values[0, 5 * DAY : 6 * DAY] = np.nan
    assert verdict_on(values).reasons == (Reason.IN_USE,)


def test_rare_jobs_without_a_timetable_are_intermittent() -> None:
    is_busy = np.random.default_rng(0).random(14 * DAY) < 0.02
    verdict = verdict_on(np.where(is_busy, 4.0, 0.0)[None])
    assert not verdict.is_seasonal_in_use
    assert verdict.reasons[:2] == (Reason.INTERMITTENT, Reason.NO_PERIOD)


def test_a_nightly_job_is_intermittent_and_yet_in_use() -> None:
    nightly = np.where(np.arange(14 * DAY) % DAY < 24, 4.0, 0.0)
    verdict = verdict_on((nightly * (1 + 0.1 * np.random.default_rng(0).random(14 * DAY)))[None])
    assert verdict.is_seasonal_in_use
    assert verdict.reasons == (Reason.INTERMITTENT,)


def test_a_young_level_is_named_and_a_new_one_refused() -> None:
    young, new = tide(), tide()
    young[0, -5 * DAY :] *= 5
    new[0, : -DAY - DAY // 2] /= 5
    assert verdict_on(young).is_seasonal_in_use
    assert verdict_on(young).reasons == (Reason.LEVEL_SHIFT,)
    assert (
        Reason.LEVEL_SHIFT
        in verdict_on(tide(14) * np.where(np.arange(14 * DAY) < 12 * DAY, 1, 5)).reasons
    )


@pytest.mark.parametrize(("share", "is_in_use"), [(0.05, True), (0.4, False)])
def test_censored_values_warn_and_when_many_refuse(share: float, *, is_in_use: bool) -> None:
    values = tide()
    level = np.quantile(values, 1 - share)
    verdict = verdict_on(np.minimum(values, level), is_censored=values >= level)
    assert verdict.reasons == (Reason.CENSORED,)
    assert verdict.is_seasonal_in_use is is_in_use


def test_persistence_that_lost_less_than_our_own_bound_refuses_it() -> None:
    history = History(values=tide(), step_seconds=300, start_local=MONDAY)
    score = {loss: Scores(coverage_ratio=np.ones(1), pinball_loss_ratio=np.array([loss]))
             for loss in (0.02, 0.03)}  # fmt: skip
    [better] = judge(history, 0.95, own=score[0.02], persistence=score[0.03])
    [worse] = judge(history, 0.95, own=score[0.03], persistence=score[0.02])
    assert better.reasons == (Reason.IN_USE,)
    assert better.pinball_loss_ratio == 0.02
    assert better.coverage_ratio == 1
    assert worse.reasons == (Reason.PERSISTENCE_IS_BETTER,)
    assert "0.020" in explain(worse)[0]
    assert not worse.is_seasonal_in_use


@pytest.mark.parametrize(("covered", "is_in_use"), [(0.76, True), (0.74, False)])
def test_a_bound_that_the_last_days_broke_far_too_often_is_refused(
    covered: float, *, is_in_use: bool
) -> None:
    history = History(values=tide(), step_seconds=300, start_local=MONDAY)
    own = Scores(coverage_ratio=np.array([covered]), pinball_loss_ratio=np.array([0.02]))

    [verdict] = judge(history, 0.95, own=own)

    assert verdict.is_seasonal_in_use is is_in_use
    assert (Reason.COVERAGE_TOO_LOW in verdict.reasons) is not is_in_use


def test_every_reason_has_its_sentence() -> None:
    for reason in Reason:
        verdict = Verdict(
            is_seasonal_in_use=False,
            reasons=(reason,),
            periods_seconds=(1800, 28_800),
            span_seconds=100_000,
            known_ratio=0.4,
        )
        assert explain(verdict)[0]
    assert "30 min and 8 h" in explain(
        Verdict(
            is_seasonal_in_use=True,
            reasons=(Reason.IN_USE,),
            periods_seconds=(1800, 28_800),
            span_seconds=1,
            known_ratio=1,
        )
    )[0]  # fmt: skip


def test_workloads_are_judged_one_by_one() -> None:
    rows = [tide()[0], np.full(14 * DAY, 3.0), np.full(14 * DAY, np.nan)]
    history = History(values=np.vstack(rows), step_seconds=300, start_local=MONDAY)
    assert [verdict.reasons[0] for verdict in judge(history, 0.95)] == [
        Reason.IN_USE, Reason.FLAT, Reason.NO_DATA,
    ]  # fmt: skip
