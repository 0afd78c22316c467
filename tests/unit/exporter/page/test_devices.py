from dataclasses import replace
from math import inf, nan

from fakes import gpu_nodes
from fakes.gpu_nodes import IDLE, NOW, device_status, gpu, node
from gputide.exporter.counters import read_counters
from gputide.exporter.fields import Field
from gputide.exporter.model import Snapshot, XidCount
from gputide.exporter.options import PageOptions
from gputide.exporter.render import render
from gputide.exposition import Family, parse

EVERY_STYLE = read_counters(
    """
DCGM_FI_DEV_POWER_USAGE, gauge, double
DCGM_FI_DEV_FB_USED, gauge, cut off
DCGM_FI_DEV_GPU_TEMP, gauge, rounded
DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL, counter, derived
""",
    source="styles",
)
EVENTS = read_counters(
    """
DCGM_EXP_XID_ERRORS_COUNT, gauge, XIDs.
DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Clocks.
DCGM_EXP_XID_ERRORS_TOTAL, counter, XIDs.
DCGM_EXP_CLOCK_EVENTS_TOTAL, counter, Clocks.
DCGM_FI_DRIVER_VERSION, label, Driver Version
""",
    source="events",
)


def families(page: bytes) -> dict[str, Family]:
    return {family.name: family for family in parse(page) if family.name.startswith("DCGM_")}


def with_values(values: dict[Field, float]) -> Snapshot:
    return node(device_status(gpu("Tesla T4"), values))


def test_numbers_that_are_not_known_have_no_line() -> None:
    for unknown in (nan, inf, -inf):
        values = {
            Field.POWER_WATTS: unknown,
            Field.MEMORY_USED_BYTES: unknown,
            Field.TEMPERATURE_CELSIUS: unknown,
            Field.NVLINK_SENT_BYTES_TOTAL: unknown,
            Field.NVLINK_RECEIVED_BYTES_TOTAL: 1.0,
        }
        page = render(with_values(values), EVERY_STYLE, PageOptions(has_custom=False)).encode()

        assert families(page) == {}


def test_a_family_without_a_line_is_not_declared() -> None:
    page = render(with_values({Field.POWER_WATTS: 1.0}), EVERY_STYLE).encode().decode()

    assert "DCGM_FI_DEV_POWER_USAGE{" in page
    assert "TYPE DCGM_FI_DEV_FB_USED" not in page


def test_families_come_in_the_order_of_the_counters_file() -> None:
    names = list(
        families(render(gpu_nodes.a100(), EVERY_STYLE, PageOptions(has_custom=False)).encode())
    )

    assert names == [chosen.name for chosen in EVERY_STYLE.fields]


def test_an_xid_is_explained_on_request_and_only_where_there_is_one() -> None:
    devices = [
        device_status(gpu("T4", index=i), {**IDLE, Field.XID_LAST: x})
        for i, x in ((0, 0.0), (1, 79.0), (2, 7777.0), (3, nan))
    ]
    page = render(node(*devices), options=PageOptions(has_xid_text=True)).encode()
    samples = families(page)["DCGM_FI_DEV_XID_ERRORS"].samples
    texts = [(dict(s.labels).get("err_code"), dict(s.labels).get("err_msg")) for s in samples]

    assert [s.value for s in samples] == [0, 79, 7777]
    assert texts == [(None, None), ("79", "GPU has fallen off the bus"), ("7777", "unknown XID")]


def test_events_in_a_window_have_their_labels_among_the_label_fields() -> None:
    status = device_status(gpu("T4"), {**IDLE, Field.CLOCK_EVENT_REASONS: 0x44})
    status = replace(status, xids=(XidCount(xid=48, count=2, last_seen_seconds=NOW - 5),))
    found = families(render(node(status), EVENTS, PageOptions(has_custom=False)).encode())

    xids = found["DCGM_EXP_XID_ERRORS_COUNT"].samples
    assert [name for name, _ in xids[0].labels][-4:] == [
        "Hostname",
        "DCGM_FI_DRIVER_VERSION",
        "window_size_in_ms",
        "xid",
    ]
    assert (xids[0].labels[-2:], xids[0].value) == (
        (("window_size_in_ms", "300000"), ("xid", "48")),
        2,
    )
    clocks = found["DCGM_EXP_CLOCK_EVENTS_COUNT"].samples
    assert len(clocks) == 9
    total = found["DCGM_EXP_XID_ERRORS_TOTAL"].samples[0]
    assert (total.labels[-2:], total.value) == (
        (("DCGM_FI_DRIVER_VERSION", "535.183.01"), ("xid", "48")),
        2,
    )
    begun = found["DCGM_EXP_CLOCK_EVENTS_TOTAL"].samples
    assert {dict(s.labels)["clock_event"] for s in begun if s.value} == {"power_cap", "hw_thermal"}
    assert {dict(s.labels)["clock_event"] for s in clocks if s.value} == {"power_cap", "hw_thermal"}
