from dataclasses import replace

from fakes import gpu_nodes
from fakes.gpu_nodes import IDLE, device_status, gpu, node
from gputide.exporter.catalog import Scope
from gputide.exporter.counters import read_counters
from gputide.exporter.fields import Field
from gputide.exporter.model import Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.allocation import allocations_of
from gputide.exporter.page.model import Budget
from gputide.exporter.page.targets import TargetMaker, Targets
from gputide.exporter.selection import Selection, default_selection


def targets(
    snapshot: Snapshot,
    options: PageOptions | None = None,
    *,
    selection: Selection | None = None,
    maker: TargetMaker | None = None,
) -> Targets:
    chosen = selection or default_selection()
    devices = [status.device for status in snapshot.devices]
    return (maker or TargetMaker(chosen, options or PageOptions())).targets(
        snapshot.devices,
        snapshot.node_name,
        allocations_of(snapshot.ownership, devices),
        Budget(1000),
    )


def ids(found: Targets, scope: Scope) -> list[str]:
    return [dict(each.labels).get("GPU_I_ID", "") for each in found.by_scope[scope]]


def test_a_whole_gpu_has_every_scope() -> None:
    found = targets(gpu_nodes.t4())

    assert {scope: len(each) for scope, each in found.by_scope.items()} == dict.fromkeys(Scope, 1)


def test_in_mig_mode_instances_have_their_own_and_the_card_its_values_once() -> None:
    found = targets(gpu_nodes.a100_mig())

    assert ids(found, Scope.INSTANCE) == ["7", "8", "9", "5"]
    assert ids(found, Scope.CARD) == [""]
    assert ids(found, Scope.NOT_IN_MIG) == []


def test_the_cards_values_can_be_repeated_as_dcgm_does() -> None:
    found = targets(gpu_nodes.a100_mig(), PageOptions(is_card_repeated=True))

    assert ids(found, Scope.CARD) == ["7", "8", "9", "5"]
    assert all(Field.POWER_WATTS in each.values for each in found.by_scope[Scope.CARD])


def test_a_card_in_mig_mode_without_instances_speaks_for_itself() -> None:
    device = replace(gpu("NVIDIA A100"), is_mig_enabled=True)
    found = targets(node(device_status(device)), PageOptions(is_card_repeated=True))

    assert ids(found, Scope.INSTANCE) == ids(found, Scope.CARD) == [""]


def test_only_the_instance_that_is_held_has_its_holder() -> None:
    found = targets(gpu_nodes.a100_mig())
    holders = [each.holder.owner for each in found.by_scope[Scope.INSTANCE]]

    assert [owner.pod if owner else None for owner in holders] == [None, "notebook-0", None, None]
    assert found.cards[0].holder.owner is None


def test_a_gpu_without_a_reading_has_no_series() -> None:
    assert len(targets(gpu_nodes.lost()).cards) == 1


def test_a_number_as_label_is_printed_in_its_unit_and_empty_where_unknown() -> None:
    text = """
DCGM_FI_DEV_FB_TOTAL, label, a
DCGM_FI_DEV_FAN_SPEED, label, b
DCGM_FI_DEV_BRAND, label, c
"""
    found = targets(gpu_nodes.t4(), selection=read_counters(text, source="x"))

    assert found.cards[0].labels[-3:] == (
        ("DCGM_FI_DEV_BRAND", ""),
        ("DCGM_FI_DEV_FAN_SPEED", ""),
        ("DCGM_FI_DEV_FB_TOTAL", "15360"),
    )


def test_labels_follow_a_change_of_owner_and_of_what_a_label_shows() -> None:
    selection = read_counters(
        "DCGM_FI_DEV_PSTATE, label, P\nDCGM_FI_DEV_GPU_UTIL, gauge, U", source="x"
    )
    maker = TargetMaker(selection, PageOptions())
    held = gpu_nodes.a100()
    free = gpu_nodes.without_owners(held)
    faster = node(device_status(held.devices[0].device, {**IDLE, Field.PERFORMANCE_STATE: 2}))

    texts = [targets(each, maker=maker).cards[0].text for each in (held, held, free, faster)]

    assert texts[0] == texts[1]
    assert 'pod="trainer-0"' in texts[0]
    assert "pod=" not in texts[2]
    assert 'DCGM_FI_DEV_PSTATE="2"' in texts[3]
