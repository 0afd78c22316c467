import pytest

from gputide.exporter.fields import Field
from gputide.exporter.simulated.faults import NO_FAULTS, GpuFaults
from gputide.exporter.simulated.physics import Totals, instant
from gputide.exporter.simulated.profiles import PROFILES, Layout, SimulatedGpu, SimulatedNode
from gputide.exporter.simulated.tenants import tenants_of
from gputide.exporter.simulated.values import (
    State,
    card_values,
    instance_values,
    processes,
    unsupported,
)


def state(name: str, busy: float = 0.5, faults: GpuFaults = NO_FAULTS, **more: Layout) -> State:
    profile = PROFILES[name]
    (tenants,) = tenants_of(SimulatedNode((SimulatedGpu(profile, **more),)))
    return State(
        profile=profile,
        now=instant(profile, busy, faults),
        totals=Totals(temperature_celsius=50.4),
        faults=faults,
        tenants=tuple((each, busy) for each in tenants),
    )


@pytest.mark.parametrize("name", PROFILES)
def test_every_field_has_a_value_or_a_reason_never_both(name: str) -> None:
    told, refused = card_values(state(name)).keys(), unsupported(PROFILES[name]).keys()

    assert told | refused == set(Field)
    assert not told & refused


@pytest.mark.parametrize("name", PROFILES)
@pytest.mark.parametrize("busy", [0, 0.5, 1])
def test_memory_adds_up(name: str, busy: float) -> None:
    values = card_values(state(name, busy))
    parts = ("used", "free", "reserved")

    assert values[Field.MEMORY_TOTAL_BYTES] == sum(
        values[Field(f"memory_{p}_bytes")] for p in parts
    )
    assert min(values[Field(f"memory_{p}_bytes")] for p in parts) >= 0


def test_only_hopper_and_newer_profile() -> None:
    active = Field.PROFILING_SM_ACTIVE_RATIO

    assert card_values(state("h200"))[active] > 0
    assert active not in card_values(state("a100-40"))
    assert "Hopper" in unsupported(PROFILES["a100-40"])[active]


def test_a_card_in_mig_mode_tells_no_utilization_and_its_instances_what_is_theirs() -> None:
    mig = state("h100-mig")
    values = [instance_values(mig, slot) for slot in mig.profile.mig]

    assert Field.GPU_UTILIZATION_RATIO not in card_values(mig)
    assert all(each[Field.COMPUTE_PROCESSES] == 1 for each in values)
    assert values[0][Field.MEMORY_TOTAL_BYTES] == mig.profile.mig[0].memory_bytes
    assert Field.PROFILING_SM_ACTIVE_RATIO in values[0]
    assert all(each.sm_ratio is None for each in processes(mig))
    a100 = state("a100-mig")
    assert Field.PROFILING_SM_ACTIVE_RATIO not in instance_values(a100, a100.profile.mig[0])


def test_memory_errors_show_in_all_their_counters() -> None:
    values = card_values(state("h100", faults=GpuFaults(ecc_single_bit=5, ecc_double_bit=1)))

    assert values[Field.ECC_SBE_VOLATILE_TOTAL] == 5
    assert values[Field.ECC_DBE_AGGREGATE_TOTAL] == 1
    assert values[Field.REMAPPED_UNCORRECTABLE_ROWS_TOTAL] == 1
    assert values[Field.ROW_REMAP_PENDING] == values[Field.RECOVERY_ACTION] == 1
    assert (
        card_values(state("t4", faults=GpuFaults(ecc_double_bit=2)))[Field.RETIRED_DBE_PAGES_TOTAL]
        == 2
    )


def test_processes_use_what_the_card_shows() -> None:
    shared = state("a10", 0.2, layout=Layout.SHARED)
    listed = processes(shared)

    assert len(listed) == 3
    assert (
        sum(each.memory_bytes or 0 for each in listed)
        == (card_values(shared)[Field.MEMORY_USED_BYTES])
    )
    assert [each.sm_ratio for each in listed] == [0.2] * 3
