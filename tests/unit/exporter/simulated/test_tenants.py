import pytest

from gputide.exporter.simulated.profiles import parse_simulation
from gputide.exporter.simulated.tenants import tenants_of


@pytest.mark.parametrize(
    ("text", "counts"),
    [("t4x2", [1, 1]), ("a10:shared", [3]), ("a100-mig,t4:idle", [4, 0]), ("h100-mig:shared", [4])],
)
def test_each_layout_has_its_tenants(text: str, counts: list[int]) -> None:
    assert [len(each) for each in tenants_of(parse_simulation(text))] == counts


def test_no_two_tenants_share_a_pod_or_a_process() -> None:
    node = parse_simulation("h100x4,a10x4:shared,a100-mig,h100-mig")
    tenants = [tenant for each in tenants_of(node) for tenant in each]

    assert len({tenant.pid for tenant in tenants}) == len(tenants)
    assert len({tenant.owner.pod for tenant in tenants}) == len(tenants)
    assert len({tenant.owner.pod_uid for tenant in tenants}) == len(tenants)


def test_nobody_is_given_more_than_there_is() -> None:
    node = parse_simulation("t4,a10:shared,a100-mig")
    for gpu, tenants in zip(node.gpus, tenants_of(node), strict=True):
        assert sum(each.allocated_memory_bytes for each in tenants) <= gpu.profile.memory_bytes
        assert sum(each.compute_ratio for each in tenants) <= 1 + 1e-9
