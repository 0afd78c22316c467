from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.errors import InputError, SettingError
from gputide.exporter.simulated.load import (
    DAY_SECONDS,
    ConstantLoad,
    DailyTide,
    Lane,
    LiveLoad,
    noise,
    parse_load,
    read_load,
)

LANE = Lane(0)
CSV = "seconds,gpu0,gpu1\n0,0.2,1\n60,0.6,0\n# a remark\n120,0.2,1\n"


def unreadable(path: str) -> str:
    raise InputError(path, "cannot be read")


@given(at=st.floats(0, 2e9), gpu=st.integers(0, 7), seed=st.integers())
def test_a_tide_is_a_share_and_follows_from_seed_and_time(at: float, gpu: int, seed: int) -> None:
    ratio = DailyTide(seed=seed).busy_ratio(Lane(gpu), at)

    assert 0 <= ratio <= 1
    assert DailyTide(seed=seed).busy_ratio(Lane(gpu), at) == ratio


def test_a_tide_is_high_at_its_peak_and_low_half_a_day_off() -> None:
    tide = DailyTide(peak_seconds=14 * 3600)
    peak = 20_000 * DAY_SECONDS + 14 * 3600

    assert tide.busy_ratio(LANE, peak) > 0.75
    assert tide.busy_ratio(LANE, peak + DAY_SECONDS / 2) < 0.12


def test_a_tide_does_not_jump() -> None:
    tide = DailyTide()
    ratios = [tide.busy_ratio(LANE, 1e9 + at) for at in range(0, 3600, 5)]

    assert max(abs(b - a) for a, b in pairwise(ratios)) < 0.02


@given(keys=st.lists(st.integers(0, 2**70), max_size=3), seed=st.integers())
def test_noise_is_below_one(keys: list[int], seed: int) -> None:
    assert 0 <= noise(seed, *keys) < 1


def test_noise_is_spread_evenly() -> None:
    values = [noise(1, number) for number in range(2000)]

    assert 0.47 < sum(values) / 2000 < 0.53
    assert min(values) < 0.01
    assert max(values) > 0.99


def test_a_recording_is_interpolated_and_repeated() -> None:
    load = read_load(CSV, source="load.csv", start_seconds=1000)

    assert load.busy_ratio(Lane(0), 1000) == pytest.approx(0.2)
    assert load.busy_ratio(Lane(0), 1030) == pytest.approx(0.4)
    assert load.busy_ratio(Lane(1), 1060) == pytest.approx(0)
    assert load.busy_ratio(Lane(2), 1060) == pytest.approx(0.6)
    assert load.busy_ratio(Lane(0), 1000 + 120 * 7 + 30) == pytest.approx(0.4)


def test_a_recording_of_one_row_is_constant() -> None:
    assert read_load("5,0.3", source="x").busy_ratio(LANE, 77) == 0.3


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("0,0.1\nten,0.2", "load.csv:2", "not numbers"),
        ("0,0.1\n1", "load.csv:2", "1 fields"),
        ("0,0.1\n1,0.2,0.3", "load.csv:2", "3 fields, not 2"),
        ("0,0.1\n0,0.2", "load.csv:2", "does not rise"),
        ("0,0.1\nnan,0.2", "load.csv:2", "does not rise"),
        ("a,b\n0,1.5", "load.csv:2", "between 0 and 1"),
        ("a,b\n", "load.csv", "no row"),
    ],
)
def test_a_bad_recording_is_refused_with_its_line(text: str, place: str, problem: str) -> None:
    with pytest.raises(InputError, match=problem) as error:
        read_load(text, source="load.csv")

    assert error.value.place == place


class Processes:
    def __init__(self) -> None:
        self.seconds = 100.0

    def busy_seconds(self, lane: Lane) -> float:
        assert lane == LANE
        return self.seconds


def test_living_processes_keep_a_gpu_as_busy_as_they_work() -> None:
    processes = Processes()
    load = LiveLoad(processes, window_seconds=1)
    assert load.busy_ratio(LANE, 1000) == 0

    processes.seconds += 3
    assert load.busy_ratio(LANE, 1005) == pytest.approx(0.6)
    assert load.busy_ratio(LANE, 1005.5) == pytest.approx(0.6)
    processes.seconds = 0
    assert load.busy_ratio(LANE, 1010) == 0


def test_a_text_says_which_load() -> None:
    def parse(text: str) -> object:
        return parse_load(text, read_text={"a.csv": "0,0.5"}.__getitem__, seed=3)

    assert parse("0.6") == parse("constant:0.6") == ConstantLoad(0.6)
    assert parse("tide") == DailyTide(seed=3)
    assert parse("tide:0.2-0.7") == DailyTide(low_ratio=0.2, high_ratio=0.7, seed=3)
    assert parse("file:a.csv") == read_load("0,0.5", source="a.csv")


@pytest.mark.parametrize(
    "text", ["", "1.5", "-1", "nan", "tide:0.7-0.2", "tide:x", "flood", "file:", "processes:1"]
)
def test_a_text_that_is_no_load_is_refused(text: str) -> None:
    with pytest.raises(SettingError, match="tide:LOW-HIGH"):
        parse_load(text, read_text=unreadable)
