import pytest

from gputide.exporter.options import PageOptions
from gputide.exporter.render import render
from gputide.exposition import parse

pytest.importorskip("prometheus_client", reason="the opponent is in the group `bench` alone")

from bench import exporter


def test_both_pages_have_the_same_series() -> None:
    from prometheus_client import CollectorRegistry, generate_latest

    selection = exporter.selected()
    node = exporter.Node(2, selection)
    registry = CollectorRegistry()
    registry.register(exporter.Opponent(node, selection))
    theirs = parse(generate_latest(registry))
    ours = parse(render(node.snapshot, selection, PageOptions(has_custom=False)).encode())
    dcgm = [family for family in ours if family.name.startswith("DCGM_")]

    assert sum(len(family.samples) for family in dcgm) == 2 * exporter.FIELD_COUNT
    assert [(s.name, sorted(s.labels)) for f in dcgm for s in f.samples] == [
        (s.name, sorted(s.labels)) for f in theirs for s in f.samples
    ]


def test_every_value_changes_at_a_tick() -> None:
    node = exporter.Node(2, exporter.selected())
    before = node.snapshot.devices[1].reading
    node.tick()
    after = node.snapshot.devices[1].reading

    assert before is not None
    assert after is not None
    assert [each for each in before.values if before.values[each] == after.values[each]] == []


def test_a_small_page_is_measured_with_every_row() -> None:
    rows = list(exporter.measure(120, runs=1))

    assert rows[0].what == "serve, body ready"
    assert {row.series for row in rows} == {120}
    assert sum(row.megabytes is not None for row in rows) == 3
