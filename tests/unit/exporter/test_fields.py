import re

from gputide.exporter.fields import Fact, Field

UNITLESS = {
    "clock_event_reasons",
    "performance_state",
    "pcie_link_generation",
    "pcie_link_width",
    "pcie_max_link_generation",
    "pcie_max_link_width",
    "xid_last",
    "retired_pending_pages",
    "row_remap_pending",
    "row_remap_failure",
    "recovery_action",
    "vgpu_license_status",
    "mig_mode",
    "compute_processes",
}
UNIT = re.compile(r"_(hertz|ratio|celsius|watts|bytes|bytes_per_second|total)$")


def test_a_value_is_its_name_in_small_letters() -> None:
    assert [each for each in (*Field, *Fact) if each.value != each.name.lower()] == []


def test_each_field_says_its_base_unit_or_has_none() -> None:
    assert {each.value for each in Field if not UNIT.search(each.value)} == UNITLESS
