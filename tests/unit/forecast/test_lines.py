from datetime import datetime

import numpy as np
import pytest

from gputide.forecast.bins import bin_history
from gputide.forecast.lines import Lines, joint_evidence, lines_of
from gputide.forecast.model import FloatArray, History

MONDAY = datetime.fromisoformat("2024-01-01")
PER_DAY = 288


def lines(values: FloatArray) -> Lines:
    history = History(values=values, step_seconds=300, start_local=MONDAY)
    return lines_of(bin_history(history, rows=slice(None)))


@pytest.mark.parametrize("cycles", [1, 3, 24, 48])
def test_a_wave_lights_its_own_line_and_no_other(cycles: int) -> None:
    clock = np.arange(14 * PER_DAY)
    noise = np.random.default_rng(0).normal(size=len(clock))
    wave = 5 + np.sin(2 * np.pi * cycles * clock / PER_DAY) + 0.3 * noise
    found = lines(wave[None])
    assert found.excess[0].argmax() == cycles - 1
    assert found.excess[0, cycles - 1] > 0.6
    assert np.delete(found.excess[0], cycles - 1).max() < 0.02


@pytest.mark.parametrize("days", [3, 7, 14, 28])
@pytest.mark.parametrize("is_walk", [False, True])
def test_evidence_of_noise_is_exponential_whatever_its_colour(days: int, *, is_walk: bool) -> None:
    noise = np.random.default_rng(0).normal(size=(60, days * PER_DAY))
    values = np.cumsum(noise, axis=1) if is_walk else noise
    evidence = lines(values - values.min()).evidence[:, 2:40]
    assert evidence.mean() == pytest.approx(1, abs=0.15)
    assert (evidence > 5).mean() < 3 * np.exp(-5)


def test_evidence_adds_up_over_the_lines_of_a_season() -> None:
    weak = np.full(16, 3.0)
    assert joint_evidence(weak) > 10 > joint_evidence(weak[:2])
    assert joint_evidence(np.full(16, 1.0)) < 1
    assert joint_evidence(np.zeros(0)) == 0


def test_nothing_moving_lights_nothing() -> None:
    found = lines(np.full((1, 5 * PER_DAY), 3.0))
    assert not found.excess.any()
