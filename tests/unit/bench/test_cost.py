import json

import pytest
from bench import cost_probe, tables
from bench.cost import CostRow
from rich.console import Console


@pytest.mark.parametrize("part", cost_probe.PARTS)
def test_each_part_prints_its_figures(part: str, capsys: pytest.CaptureFixture[str]) -> None:
    cost_probe.main(part, 2, 3)
    figures = json.loads(capsys.readouterr().out)
    assert figures["peak_mb"] > 10
    assert all(value >= 0 for value in figures.values())


def test_workloads_are_the_same_each_time_and_differ_from_each_other() -> None:
    first, again = cost_probe.minutes_of(2, 2), cost_probe.minutes_of(2, 2)
    assert (first == again).all()
    assert (first[0] != first[1]).any()


def test_a_cost_stands_beside_its_goal_and_its_floor(capsys: pytest.CaptureFixture[str]) -> None:
    row = CostRow(what="fit", value=1.5, unit="ms/workload", goal=2, floor=0.5, floor_is="a copy")
    tables.print_cost(Console(width=120), [row], workloads=1000, days=14)
    shown = capsys.readouterr().out
    assert "1.5 ms/workload" in shown
    assert "3.0" in shown, "times the floor"
