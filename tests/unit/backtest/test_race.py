"""A race runs every setting, and its tuned policies choose by earlier days alone."""

from dataclasses import fields, replace
from datetime import UTC, datetime

import numpy as np
import pytest

from gputide.backtest.frame import Frame
from gputide.backtest.ledger import Ledger
from gputide.backtest.model import FloatArray, PolicyName, Trace, Workload
from gputide.backtest.policies.contestant import fixed, hpa, oracle
from gputide.backtest.policies.field import Field, Tuned
from gputide.backtest.policies.series import DAY_MINUTES, SeriesTable
from gputide.backtest.race import Race, Result, run_races
from gputide.backtest.settings import BacktestSettings

STARTED = datetime(2024, 5, 6, tzinfo=UTC)
SIZES = (4.0, 8.0, 16.0)
DEFAULT = 1
TUNED_ROW = len(SIZES)
BUDGET = 0.01


def sizes_field() -> Field:
    """Return three fixed sizes, and who chooses one of them each day."""
    tuned = Tuned(policy=PolicyName.HPA_TUNED, pool=(0, 1, 2), default=DEFAULT)
    return Field(
        settings=tuple(fixed(size) for size in SIZES),
        plain={PolicyName.FIXED: 2},
        tuned=(tuned,),
        curves={},
    )


def field_of_hpa() -> Field:
    return Field(settings=(hpa(0.7),), plain={PolicyName.HPA: 0}, tuned=(), curves={})


def race(
    demand: FloatArray, *, start: int = 0, first: int = DAY_MINUTES, field: Field | None = None
) -> Race:
    trace = Trace(name="load", demand=demand, start_utc=STARTED, time_zone="UTC")
    frame = Frame(trace=trace, demand=demand, start=start, first=first, policies=())
    return Race(
        frame=frame,
        field=field or sizes_field(),
        table=SeriesTable(names=("a", "b"), values=np.tile(demand, (2, 1))),
        workload=Workload(capacity_per_pod=1),
        settings=BacktestSettings(tuning_days=2, harm_budget_ratio=BUDGET),
    )


def run(*races: Race) -> list[Result]:
    return run_races(races, on_progress=lambda _share: None)


def days(*levels: float) -> FloatArray:
    return np.repeat(np.array(levels), DAY_MINUTES)


def ledger(*saturated: float, known: float = DAY_MINUTES) -> Ledger:
    """Return a day in which the three sizes and the tuned policy were saturated so many minutes."""
    minutes = np.array(saturated)
    cost = np.array([*SIZES, SIZES[DEFAULT]]) * known / 60
    plain = {f.name: np.zeros(4) for f in fields(Ledger)}
    seen = {
        "known_minutes": np.full(4, known),
        "replica_hours": cost,
        "saturated_minutes": minutes,
        "minutes_above_95": minutes,
        "minutes_above_90": minutes,
    }
    return Ledger(**(plain | seen))


HARD = ledger(900, 300, 0, 0)
MILD = ledger(300, 0, 0, 0)
CALM = ledger(0, 0, 0, 0)


def test_tuned_rows_follow_the_settings_and_show_in_the_tables_order() -> None:
    found = race(days(1, 1))

    assert found.size == 4
    assert list(found.shown.items()) == [(PolicyName.FIXED, 2), (PolicyName.HPA_TUNED, TUNED_ROW)]


def test_a_tuned_row_is_that_of_the_setting_it_runs() -> None:
    rows = race(days(1, 1)).rows([2], load=5, first_series=0)

    assert rows[TUNED_ROW] == rows[2]
    assert rows[TUNED_ROW] != rows[1]
    assert {row.load for row in rows} == {5}


def test_rows_read_their_own_races_forecasts() -> None:
    field = replace(sizes_field(), settings=(oracle("a"), oracle("b"), hpa(0.7)))

    rows = race(days(1, 1), field=field).rows([1], load=0, first_series=10)

    assert [row.series for row in rows] == [10, 11, None, 11]


@pytest.mark.parametrize("before", [[], [ledger(0, 0, 0, 0, known=0)]])
def test_without_a_known_day_the_default_runs(before: list[Ledger]) -> None:
    assert race(days(1, 1)).choices(before, evaluated=0) == [DEFAULT]


@pytest.mark.parametrize(("day", "choice"), [(CALM, 0), (MILD, 1), (HARD, 2)])
def test_the_cheapest_that_kept_the_budget_runs_next(day: Ledger, choice: int) -> None:
    assert race(days(1, 1)).choices([day], evaluated=0) == [choice]


def test_days_before_the_tuning_days_are_forgotten() -> None:
    found = race(days(1, 1))

    assert found.choices([HARD, CALM], evaluated=0) == [2]
    assert found.choices([HARD, CALM, CALM], evaluated=0) == [0]


def test_what_it_did_itself_counts_on_evaluated_days_alone() -> None:
    # The middle size promises 0.7 % of harm: within the whole budget, but not within what is left
    # of it after the tuned row was saturated for a tenth of the day.
    day = ledger(900, 10, 0, 144)
    found = race(days(1, 1))

    assert found.choices([day, day], evaluated=0) == [1]
    assert found.choices([day, day], evaluated=2) == [2]
    calm = ledger(900, 10, 0, 0)
    assert found.choices([calm, calm], evaluated=2) == [1]


@pytest.fixture(scope="module")
def three_days() -> dict[tuple[int, ...], Result]:
    """Return races over a replayed and two evaluated days, by their levels; run side by side."""
    levels = [(6, 12, 3), (3, 3, 3), (3, 12, 3)]
    return dict(zip(levels, run(*(race(days(*each)) for each in levels)), strict=True))


Runs = dict[tuple[int, ...], Result]


def test_each_evaluated_day_has_its_choice_made_in_the_evening_before(three_days: Runs) -> None:
    # A day of 6 asks for 8 pods, one of 12 for 16, one of 3 for 4.
    assert three_days[6, 12, 3].choices == [[1], [2]]


def test_a_day_changes_the_choices_after_it_and_never_its_own(three_days: Runs) -> None:
    assert three_days[3, 3, 3].choices == [[0], [0]]
    assert three_days[3, 12, 3].choices == [[0], [2]]


def test_the_tuned_row_runs_what_was_chosen(three_days: Runs) -> None:
    result = three_days[3, 12, 3]
    pods = result.replicas[PolicyName.HPA_TUNED].reshape(2, DAY_MINUTES)

    assert (pods[0] == 4).all()
    assert (pods[1] == 16).all()
    assert result.ledger.replica_hours[TUNED_ROW] == 24 * (4 + 16)


def test_days_before_the_evaluated_span_are_replayed_and_not_counted(three_days: Runs) -> None:
    result = three_days[6, 12, 3]

    assert result.ledger.known_minutes.tolist() == [2 * DAY_MINUTES] * 4
    # 12 saturates four and eight pods; that 6 saturated four was before.
    assert result.ledger.saturated_minutes[:3].tolist() == [DAY_MINUTES, DAY_MINUTES, 0]
    assert result.ledger.replica_hours[:3].tolist() == [48 * size for size in SIZES]
    assert {len(pods) for pods in result.replicas.values()} == {2 * DAY_MINUTES}


def test_a_race_without_a_day_to_replay_runs_the_default() -> None:
    demand = np.full(300, 3.0)

    (result,) = run(race(demand, start=0, first=0))

    assert result.choices == [[DEFAULT]]
    assert (result.replicas[PolicyName.HPA_TUNED] == SIZES[DEFAULT]).all()


def test_it_starts_as_if_the_first_known_load_had_stood_long() -> None:
    demand = np.full(120, 7.0)
    demand[:10] = np.nan
    demand[60:] = 100
    (result,) = run(race(demand, first=0, field=field_of_hpa()))

    assert result.replicas[PolicyName.HPA][:60].tolist() == [10] * 60


@pytest.mark.parametrize(("bounds", "pods"), [({"min_replicas": 20}, 20), ({"max_replicas": 5}, 5)])
def test_it_starts_within_the_workloads_bounds(bounds: dict[str, int], pods: int) -> None:
    entry = race(np.full(120, 7.0), first=0, field=field_of_hpa())

    (result,) = run(replace(entry, workload=Workload(capacity_per_pod=1, **bounds)))

    assert result.replicas[PolicyName.HPA].tolist() == [pods] * 120


def test_windows_bound_all_but_fixed_sizes_while_they_last() -> None:
    low, high = np.full(120, np.nan), np.full(120, np.nan)
    low[40:80], high[40:80] = 20, 30
    field = Field(
        settings=(hpa(0.7), fixed(4)),
        plain={PolicyName.HPA: 0, PolicyName.FIXED: 1},
        tuned=(),
        curves={},
    )
    entry = race(np.full(120, 7.0), first=0, field=field)
    trace = replace(entry.frame.trace, min_replicas=low, max_replicas=high)

    (result,) = run(replace(entry, frame=replace(entry.frame, trace=trace)))

    pods = result.replicas[PolicyName.HPA]
    assert (pods[:40] == 10).all()
    assert (pods[40:80] == 20).all()
    assert pods[-1] == 10
    assert (result.replicas[PolicyName.FIXED] == 4).all()


def test_races_of_different_lengths_end_as_each_would_alone() -> None:
    field = Field(
        settings=(hpa(0.7), oracle("a")),
        plain={PolicyName.HPA: 0, PolicyName.ORACLE: 1},
        tuned=(),
        curves={},
    )
    waves = [n + np.sin(np.arange(n) / 30) * n / 4 for n in (60, 180, 130)]
    races = [race(wave, start=20, first=20, field=field) for wave in waves]

    for found, alone in zip(run(*races), [run(each)[0] for each in races], strict=True):
        assert found.choices == alone.choices
        for name, pods in alone.replicas.items():
            assert np.array_equal(found.replicas[name], pods)
        for column in fields(Ledger):
            mine, theirs = (getattr(r.ledger, column.name) for r in (found, alone))
            assert mine == pytest.approx(theirs)


def test_progress_rises_to_one_weighed_by_minutes() -> None:
    shares: list[float] = []
    run_races(
        [race(np.full(360, 6.0), first=0), race(np.full(120, 6.0), first=0)],
        on_progress=shares.append,
    )

    assert shares == pytest.approx([240 / 480, 1])
