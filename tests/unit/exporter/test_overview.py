import io
import json

from rich.console import Console

from fakes.gpu_nodes import a100_mig, lost, no_gpu, shared
from gputide.exporter.model import Snapshot
from gputide.exporter.overview import as_json, print_overview


def shown(snapshot: Snapshot, *, width: int = 80) -> str:
    console = Console(file=io.StringIO(), width=width)
    print_overview(snapshot, console)
    assert isinstance(console.file, io.StringIO)
    return console.file.getvalue()


def test_the_table_fits_eighty_columns() -> None:
    for snapshot in (shared(), a100_mig(), lost(), no_gpu()):
        assert max(map(len, shown(snapshot).splitlines())) <= 80


def test_holders_and_processes_of_a_shared_gpu_are_named() -> None:
    snapshot = shared()
    text = shown(snapshot, width=120)

    for held in snapshot.ownership.allocations:
        assert f"{held.owner.namespace}/{held.owner.pod}" in text
    assert "processes" in text


def test_a_lost_gpu_is_named_with_its_reason() -> None:
    snapshot = lost()
    gone = [each for each in snapshot.devices if each.problem]
    text = shown(snapshot, width=200)

    assert gone
    assert all(f"{each.state.value}: {each.problem}" in text for each in gone)


def test_instances_stand_under_their_gpu() -> None:
    assert "MIG 1g.5gb" in shown(a100_mig())


def test_json_holds_the_snapshot() -> None:
    snapshot = shared()

    found = json.loads(as_json(snapshot))

    assert found["node_name"] == snapshot.node_name
    assert len(found["ownership"]["allocations"]) == len(snapshot.ownership.allocations)
