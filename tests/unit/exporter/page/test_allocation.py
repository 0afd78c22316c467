from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.gpu_nodes import MIB, container, gpu
from gputide.exporter.model import (
    AllocateMode,
    Allocation,
    Container,
    MigInstance,
    Ownership,
    ProcessReading,
)
from gputide.exporter.page.allocation import Allocations, Mode, allocated_ratio, allocations_of

CARD = gpu("A10", memory_bytes=100 * MIB)
KEY = (CARD.uuid, None)
ONE, TWO = container("one"), container("two")


def part(owner: Container, mebibytes: int | None, compute_ratio: float | None = None) -> Allocation:
    return Allocation(
        owner=owner,
        device_uuid=CARD.uuid,
        is_shared=True,
        memory_bytes=None if mebibytes is None else mebibytes * MIB,
        compute_ratio=compute_ratio,
    )


def whole(owner: Container) -> Allocation:
    return Allocation(owner=owner, device_uuid=CARD.uuid)


def of(*allocations: Allocation, problems: tuple[str, ...] = ()) -> Allocations:
    ownership = Ownership(
        at_seconds=0,
        mode=AllocateMode.SHARE,
        allocations=allocations,
        process_owners={1: ONE, 2: TWO, 3: replace(ONE, container="")},
        problems=problems,
    )
    return allocations_of(ownership, [CARD])


def process(pid: int, gpu_instance_id: int | None = None) -> ProcessReading:
    return ProcessReading(pid=pid, name="p", gpu_instance_id=gpu_instance_id)


def test_a_device_has_an_owner_only_where_one_container_holds_it() -> None:
    assert of(whole(ONE)).sole_owner(KEY) == ONE
    assert of(part(ONE, 10)).sole_owner(KEY) == ONE
    assert of(part(ONE, 10), part(TWO, 10)).sole_owner(KEY) is None
    assert of().sole_owner(KEY) is None


def test_a_containers_replicas_of_one_device_are_one_share() -> None:
    shares = of(part(ONE, 10, 0.2), part(ONE, 15, 0.1)).shares[KEY]

    assert len(shares) == 1
    assert (shares[0].memory_bytes, shares[0].mode) == (25 * MIB, Mode.SHARE)
    assert shares[0].compute_ratio == pytest.approx(0.3)


def test_an_exclusive_device_is_given_whole_and_without_limit() -> None:
    share = of(whole(ONE)).shares[KEY][0]

    assert (share.mode, share.memory_bytes, share.compute_ratio) == (
        Mode.EXCLUSIVE,
        CARD.memory_bytes,
        0.0,
    )


def test_an_exclusive_device_counts_whole_though_a_source_says_less() -> None:
    less = replace(whole(ONE), memory_bytes=CARD.memory_bytes - MIB)

    assert allocated_ratio(CARD, of(less)) == 1


def test_what_nobody_says_of_a_shared_device_is_unknown() -> None:
    share = of(part(ONE, None)).shares[KEY][0]

    assert (share.memory_bytes, share.compute_ratio) == (None, None)


@pytest.mark.parametrize(
    ("allocations", "ratio"),
    [
        ((), 0.0),
        ((whole(ONE),), 1.0),
        ((part(ONE, 25), part(TWO, 50)), 0.75),
        ((part(ONE, 75), part(TWO, 50)), 1.25),  # oversold, and shown as such
        ((part(ONE, 25), part(TWO, None)), None),
    ],
)
def test_allocated_memory_is_a_share_of_the_card(
    allocations: tuple[Allocation, ...], ratio: float | None
) -> None:
    assert allocated_ratio(CARD, of(*allocations)) == ratio


def test_nothing_allocated_is_zero_only_where_every_owner_could_be_asked() -> None:
    assert allocated_ratio(CARD, of(problems=("no socket",))) is None
    assert allocated_ratio(CARD, of(whole(ONE), problems=("no labels",))) == 1.0


def test_instances_count_with_their_own_memory() -> None:
    mig = tuple(
        MigInstance(gpu_instance_id=i, uuid=str(i), profile="1g", memory_bytes=20 * MIB)
        for i in (1, 2)
    )
    card = replace(CARD, is_mig_enabled=True, mig_instances=mig)
    held = Allocation(owner=ONE, device_uuid=card.uuid, gpu_instance_id=2)
    ownership = Ownership(at_seconds=0, mode=AllocateMode.EXCLUSIVE, allocations=(held,))
    found = allocations_of(ownership, [card])

    assert allocated_ratio(card, found) == pytest.approx(0.2)
    assert found.sole_owner((card.uuid, 2)) == ONE
    assert found.sole_owner((card.uuid, None)) is None


def test_a_process_claims_its_containers_share() -> None:
    allocations = of(part(ONE, 10), part(TWO, 10))

    assert allocations.claim(KEY, process(1)).owner == ONE
    assert allocations.claim(KEY, process(1)).mode is Mode.SHARE
    assert not allocations.claim(KEY, process(3)).is_illegal  # the cgroup told the pod alone


def test_a_containers_process_on_a_device_it_was_not_given_is_illegal() -> None:
    claim = of(whole(ONE)).claim(KEY, process(2))

    assert (claim.owner, claim.mode, claim.is_illegal) == (TWO, Mode.NONE, True)


def test_what_cannot_be_known_is_not_illegal() -> None:
    assert not of(whole(ONE)).claim(KEY, process(99)).is_illegal
    assert not of(whole(ONE), problems=("no socket",)).claim(KEY, process(2)).is_illegal


def test_a_process_in_an_instance_may_use_the_whole_card_that_its_container_holds() -> None:
    assert not of(whole(ONE)).claim((CARD.uuid, 7), process(1, 7)).is_illegal


@given(sizes=st.lists(st.integers(0, 100), max_size=6))
def test_shared_memory_adds_up(sizes: list[int]) -> None:
    allocations = [part(container(f"p{i}"), size) for i, size in enumerate(sizes)]

    assert allocated_ratio(CARD, of(*allocations)) == pytest.approx(sum(sizes) / 100)
