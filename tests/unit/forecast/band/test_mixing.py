"""Experts are weighed by what their past was worth, and the last hours by what they told."""

from datetime import datetime

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.forecast import History
from gputide.forecast.band.calibration import Evidence, evidence_of
from gputide.forecast.band.days import Days, Single, cut_days
from gputide.forecast.band.mixing import Live, carry_live, live_of, mix
from gputide.forecast.band.season import relate
from gputide.forecast.model import FloatArray

START = datetime(2026, 1, 5)  # noqa: DTZ001 - histories are local times without a zone
DAYS = 8
BINS = 288


def _days(values: FloatArray) -> Days:
    return cut_days(History(values=values, step_seconds=300, start_local=START), slice(None))


def _evidence(quantile: float = 0.9, *, seed: int = 1) -> Evidence:
    values = np.random.default_rng(seed).gamma(4, 1, (2, DAYS * BINS))
    return evidence_of(_days(values), quantile)


def _still(evidence: Evidence) -> Live:
    """Return last hours that were as expected."""
    coming = np.zeros((len(evidence.values), BINS), np.float32)
    return Live(past=np.zeros_like(evidence.values), coming=coming)


def _noisy(evidence: Evidence, spread: float, *, seed: int = 2) -> Single:
    """Return a forecast that errs by a factor so wide."""
    errors = np.random.default_rng(seed).normal(0, spread, evidence.values.shape)
    return (evidence.values * np.exp(errors)).astype(np.float32)


def _level(evidence: Evidence, level: float) -> Single:
    return np.full((len(evidence.values), BINS), level, np.float32)


def test_experts_that_agree_are_mixed_to_what_they_say() -> None:
    evidence = _evidence()
    exact, ahead = evidence.values, _level(evidence, 2)

    past, coming = mix(np.stack([exact] * 3), np.stack([ahead] * 3), evidence)

    assert past == pytest.approx(exact, rel=0.05)
    assert coming == pytest.approx(ahead, rel=0.05)


@settings(deadline=None, max_examples=20)
@given(spreads=st.lists(st.floats(0.1, 1), min_size=2, max_size=5), seed=st.integers(0, 100))
def test_a_mixture_lies_between_its_calibrated_experts(spreads: list[float], seed: int) -> None:
    evidence = _evidence()
    experts = np.stack([_noisy(evidence, s, seed=seed + n) for n, s in enumerate(spreads)])
    ahead = np.stack([_level(evidence, 1 + n) for n in range(len(spreads))])

    past, coming = mix(experts, ahead, evidence)

    alone = [mix(e[None], a[None], evidence) for e, a in zip(experts, ahead, strict=True)]
    for mixture, singles in ((past, [a for a, _ in alone]), (coming, [c for _, c in alone])):
        assert (mixture >= np.min(singles, axis=0) * (1 - 1e-4)).all()
        assert (mixture <= np.max(singles, axis=0) * (1 + 1e-4)).all()


def test_the_better_expert_has_the_say_in_whatever_place() -> None:
    evidence = _evidence()
    good, bad = _noisy(evidence, 0.1), _noisy(evidence, 1.0)
    low, high = _level(evidence, 1), _level(evidence, 100)
    alone = mix(good[None], low[None], evidence)[1]

    first = mix(np.stack([good, bad]), np.stack([low, high]), evidence)[1]
    last = mix(np.stack([bad, good]), np.stack([high, low]), evidence)[1]

    assert first == pytest.approx(alone, rel=0.05)
    assert last == pytest.approx(first, rel=1e-4)


def test_experts_of_one_loss_count_alike() -> None:
    evidence = _evidence()
    past = np.stack([evidence.values, evidence.values])

    coming = mix(past, np.stack([_level(evidence, 1), _level(evidence, 3)]), evidence)[1]

    assert coming == pytest.approx(_level(evidence, 2), rel=0.05)


def test_an_expert_that_always_says_half_is_doubled() -> None:
    evidence = _evidence()

    past, coming = mix(evidence.values[None] / np.float32(2), _level(evidence, 1)[None], evidence)

    assert past == pytest.approx(evidence.values, rel=0.05)
    assert coming == pytest.approx(_level(evidence, 2), rel=0.05)


def test_each_workload_weighs_its_experts_by_itself() -> None:
    evidence = _evidence()
    good, bad = _noisy(evidence, 0.05), _noisy(evidence, 1.0)
    one, other = good.copy(), bad.copy()
    one[1], other[1] = bad[1], good[1]  # the second workload trusts the other one

    coming = mix(
        np.stack([one, other]), np.stack([_level(evidence, 1), _level(evidence, 9)]), evidence
    )[1]

    assert coming[0, 0] < 2
    assert coming[1, 0] > 7


def test_the_deviation_of_the_last_hours_fades_over_the_day() -> None:
    values = np.ones((1, 14 * BINS))
    values[:, -36:] = 2
    days = _days(values)
    season = relate(days)

    live = live_of(days, season)

    assert live.coming.shape == (1, BINS)
    assert live.past.shape == (1, 14 * len(days.sampled_bins))
    assert live.coming[0, 0] == pytest.approx(season.live[0, -1])
    assert live.coming[0, 6 * 12] == pytest.approx(live.coming[0, 0] / np.e, rel=1e-4)
    assert (np.diff(live.coming[0]) < 0).all()


def test_each_past_day_has_the_deviation_before_it() -> None:
    values = np.ones((1, 14 * BINS))
    values[:, 6 * BINS - 36 : 6 * BINS] = 2  # the evening before the seventh day
    days = _days(values)

    past = live_of(days, relate(days)).past.reshape(14, -1)

    assert past.max(axis=1).argmax() == 6
    assert past[6, 0] > 0.5
    assert past[0].tolist() == [0] * len(days.sampled_bins)


def test_hours_as_expected_move_nothing() -> None:
    evidence = _evidence()
    coming = _level(evidence, 2)

    assert carry_live(evidence.values, coming, _still(evidence), evidence) == pytest.approx(
        coming, rel=0.05
    )


@pytest.mark.parametrize(("does_it_tell", "expected"), [(True, 2.0), (False, 1.0)])
def test_the_last_hours_move_the_day_as_far_as_that_would_have_paid(
    does_it_tell: bool,  # noqa: FBT001  a case's own switch
    expected: float,
) -> None:
    evidence = _evidence()
    shape = evidence.values.shape
    moves = np.random.default_rng(3).normal(0, 0.7, shape).astype(np.float32)
    said = evidence.values * np.exp(-moves) if does_it_tell else evidence.values
    live = Live(past=moves, coming=np.full((2, BINS), np.log(2), np.float32))

    moved = carry_live(said, _level(evidence, 1), live, evidence)

    assert moved == pytest.approx(_level(evidence, expected), rel=0.1)
