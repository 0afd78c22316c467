from dataclasses import replace
from math import nan

from fakes import gpu_nodes
from fakes.gpu_nodes import IDLE, NOW, device_status, gpu, node
from gputide.exporter.catalog import own
from gputide.exporter.counters import UNTOLD_REASON, read_counters
from gputide.exporter.fields import Field
from gputide.exporter.model import Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.health import SILENT_REASON, unsupported
from gputide.exporter.reasons import MIG_WHOLE_ONLY
from gputide.exporter.render import render
from gputide.exporter.selection import default_selection, full_selection
from gputide.exposition import Sample, parse

SOME = read_counters(
    """
DCGM_FI_DEV_GPU_UTIL, gauge, U
DCGM_FI_DEV_FB_USED, gauge, M
DCGM_FI_PROF_SM_ACTIVE, gauge, S
""",
    source="some",
)


def samples(
    snapshot: Snapshot, options: PageOptions | None = None
) -> dict[str, tuple[Sample, ...]]:
    page = render(snapshot, options=options).encode()
    return {f.name: f.samples for f in parse(page) if f.name.startswith("gputide_")}


def by(found: tuple[Sample, ...], label: str) -> dict[str, float]:
    return {dict(sample.labels)[label]: sample.value for sample in found}


def test_labels_on_the_page_are_those_of_the_catalog() -> None:
    pages = (gpu_nodes.lost(), gpu_nodes.no_gpu(), gpu_nodes.shared(), gpu_nodes.a100_mig())
    found = [sample for page in pages for each in samples(page).values() for sample in each]
    rows = {row.name: row.labels for row in own.FROM_SNAPSHOT}

    assert {s.name for s in found} == set(rows)
    assert [s for s in found if tuple(name for name, _ in s.labels) != rows[s.name]] == []


def test_each_gpu_is_up_or_down_and_a_down_one_says_why() -> None:
    found = samples(gpu_nodes.lost())

    assert by(found["gputide_exporter_device_up"], "gpu") == {"0": 1, "1": 0, "2": 0}
    problems = [dict(s.labels) for s in found["gputide_exporter_device_problem_info"]]
    assert [(p["gpu"], p["state"], p["problem"]) for p in problems] == [
        ("1", "lost", "GPU is lost"),
        ("2", "hung", "no answer within 5 s since 07:12:31"),
    ]


def test_lost_gpus_are_counted_beside_expected_and_present_ones() -> None:
    found = samples(gpu_nodes.lost())
    names = ("expected", "present", "lost")

    assert [found[f"gputide_exporter_devices_{name}"][0].value for name in names] == [3, 2, 1]


def test_a_node_without_a_driver_has_a_page_that_says_so() -> None:
    found = samples(gpu_nodes.no_gpu())

    assert found["gputide_exporter_devices_expected"][0].value == 0
    assert set(by(found["gputide_exporter_problem_info"], "source")) == {"driver", "ownership"}


def test_xids_have_a_counter_and_a_time() -> None:
    found = samples(gpu_nodes.lost())

    assert by(found["gputide_gpu_xid_errors_total"], "xid") == {"79": 1}
    assert by(found["gputide_gpu_xid_last_seen_timestamp_seconds"], "xid") == {"79": NOW - 30}


def test_ages_are_told_and_never_negative() -> None:
    snapshot = gpu_nodes.t4()
    found = samples(snapshot)
    ahead = samples(replace(snapshot, at_seconds=NOW - 100))

    assert found["gputide_exporter_device_reading_age_seconds"][0].value == 1
    assert found["gputide_exporter_ownership_age_seconds"][0].value == 2
    assert ahead["gputide_exporter_ownership_age_seconds"][0].value == 0


def test_a_field_that_a_gpu_does_not_give_is_named_with_the_reason() -> None:
    reasons = dict(unsupported(gpu_nodes.t4().devices[0], default_selection()))

    assert reasons["DCGM_FI_DEV_MEMORY_TEMP"] == gpu_nodes.NOT_SUPPORTED
    assert reasons["DCGM_FI_PROF_GR_ENGINE_ACTIVE"] == gpu_nodes.NO_GPM
    assert reasons["DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL"] == gpu_nodes.NOT_SUPPORTED
    assert "DCGM_FI_DEV_GPU_UTIL" not in reasons


def test_every_selected_field_is_on_the_page_or_named_as_unsupported() -> None:
    for snapshot in (gpu_nodes.t4(), gpu_nodes.a100(), gpu_nodes.a100_mig(), gpu_nodes.shared()):
        page = render(snapshot, full_selection()).encode()
        present = {family.name for family in parse(page)}
        named = dict(unsupported(snapshot.devices[0], full_selection()))

        assert {each.name for each in full_selection().fields} == (
            {name for name in present if name.startswith("DCGM_FI_")} | set(named)
        )


def test_a_silent_or_meaningless_answer_is_named_too() -> None:
    status = device_status(gpu("T4"), {Field.GPU_UTILIZATION_RATIO: nan})

    assert dict(unsupported(status, SOME)) == {
        "DCGM_FI_DEV_GPU_UTIL": SILENT_REASON,
        "DCGM_FI_DEV_FB_USED": SILENT_REASON,
        "DCGM_FI_PROF_SM_ACTIVE": SILENT_REASON,
    }


def test_in_mig_mode_what_the_instances_tell_is_supported() -> None:
    reasons = dict(unsupported(gpu_nodes.a100_mig().devices[0], SOME))

    assert reasons == {
        "DCGM_FI_DEV_GPU_UTIL": gpu_nodes.NOT_SUPPORTED,
        "DCGM_FI_PROF_SM_ACTIVE": gpu_nodes.NO_GPM,
    }


def test_what_dcgm_leaves_out_in_mig_mode_is_left_out_though_a_driver_tells_it() -> None:
    device = replace(gpu_nodes.a100_mig().devices[0].device)
    reasons = dict(unsupported(device_status(device, IDLE), SOME))

    assert reasons["DCGM_FI_DEV_GPU_UTIL"] == MIG_WHOLE_ONLY


def test_a_field_that_only_dcgm_has_is_named_once_for_the_node() -> None:
    selection = read_counters(
        "DCGM_EXP_GPU_HEALTH_STATUS, gauge, x\nDCGM_FI_DEV_GPU_UTIL, gauge, U", source="x"
    )
    page = render(node(device_status(gpu("T4"), IDLE)), selection).encode()
    info = next(f for f in parse(page) if f.name == "gputide_exporter_unsupported_info")

    assert [s.labels for s in info.samples] == [
        (("field", "DCGM_EXP_GPU_HEALTH_STATUS"), ("reason", UNTOLD_REASON))
    ]


def test_every_limit_is_shown_even_when_it_cut_nothing() -> None:
    found = samples(gpu_nodes.t4())

    assert by(found["gputide_exporter_cut"], "what") == {
        "series": 0,
        "processes": 0,
        "pod_labels": 0,
        "label_values": 0,
    }
