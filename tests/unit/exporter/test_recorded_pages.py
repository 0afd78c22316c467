"""Our pages beside pages that dcgm-exporter printed on the same hardware."""

import re
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from fakes import gpu_nodes
from fakes.gpu_nodes import A100_IDLE, H100_PROFILING, MIB, device_status, gpu, node
from fakes.simulated_nodes import simulated
from gputide.exporter.catalog.differences import DIFFERENCES, PAGES
from gputide.exporter.counters import read_counters
from gputide.exporter.model import Allocation, Container, MigInstance, Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.render import render
from gputide.exporter.selection import Selection
from gputide.exposition import Family, parse

SCRAPES = Path(__file__).parents[4] / "shared/data/scrapes"
OURS_ALONE = ("DCGM_CUSTOM_", "gputide_")
LABEL_FIELDS = "DCGM_FI_DRIVER_VERSION, label, Driver Version\n"


def t4x2() -> Snapshot:
    reading = gpu_nodes.t4().devices[0].reading
    assert reading is not None
    devices = [gpu("Tesla T4", index=index) for index in range(2)]
    holder = Container(namespace="reservation", pod="reserved", container="reservation")
    return node(
        *(device_status(each, unsupported=tuple(reading.unsupported)) for each in devices),
        allocations=(Allocation(owner=holder, device_uuid=devices[0].uuid),),
    )


def a100_one_instance() -> Snapshot:
    whole = gpu_nodes.without_owners(gpu_nodes.a100_mig())
    status = whole.devices[0]
    instance = tuple(each for each in status.device.mig_instances if each.gpu_instance_id == 9)
    device = replace(status.device, mig_instances=instance)
    return replace(whole, devices=(replace(status, device=device),))


def a800x8() -> Snapshot:
    size = 81_920 * MIB
    mig = tuple(
        MigInstance(gpu_instance_id=i, uuid=f"MIG-{i}", profile="2g.20gb", memory_bytes=size // 4)
        for i in (3, 5, 6)
    )
    devices = [
        gpu("NVIDIA A800-SXM4-80GB", index=i, memory_bytes=size, mig=mig if i == 0 else ())
        for i in range(8)
    ]
    return node(*(device_status(each, A100_IDLE) for each in devices))


def h100() -> Snapshot:
    return node(device_status(gpu("NVIDIA H100 80GB HBM3"), {**A100_IDLE, **H100_PROFILING}))


NODES = {
    "dcgm-t4": gpu_nodes.t4(),
    "dcgm-t4x2-fraction": t4x2(),
    "dcgm-a100-no-mig": gpu_nodes.without_owners(gpu_nodes.a100()),
    "dcgm-a100-mig-1g5gb-active": a100_one_instance(),
    "dcgm-a100-mig-4-workloads": gpu_nodes.without_owners(gpu_nodes.a100_mig()),
    "dcgm-a800x8-mixed-mig": a800x8(),
    "dcgm-h100-excerpt": h100(),
}
# The profiles of the same hardware; there is none of an A800.
SIMULATED = {
    "dcgm-t4": "t4:idle",
    "dcgm-a100-no-mig": "a100:idle",
    "dcgm-a100-mig-1g5gb-active": "a100-mig:idle",
    "dcgm-a100-mig-4-workloads": "a100-mig:idle",
    "dcgm-h100-excerpt": "h100:idle",
}

# Two of the recordings are excerpts: what they leave out says nothing about the exporter.
EXCERPTS = {"dcgm-a800x8-mixed-mig", "dcgm-h100-excerpt"}

# The switches that make our page like that of the release that was recorded.
AS_THEN = PageOptions(has_pci_bus_id=False, is_idle_labelled=True, is_card_repeated=True)
AS_THEN_WITHOUT_PODS = replace(AS_THEN, is_idle_labelled=False)
OPTIONS = {
    "dcgm-t4": AS_THEN_WITHOUT_PODS,
    "dcgm-a800x8-mixed-mig": AS_THEN_WITHOUT_PODS,
    "dcgm-h100-excerpt": PageOptions(),
}


@dataclass(frozen=True)
class Shape:
    """What dashboards depend on: a family without its values."""

    kind: str
    help: str
    label_names: frozenset[tuple[str, ...]]
    value_forms: frozenset[str]
    sample_count: int


def recorded(name: str) -> dict[str, Shape]:
    if not SCRAPES.is_dir():
        pytest.skip("recorded pages are not beside this checkout")
    return shapes((SCRAPES / f"{name}.prom").read_bytes())


def shapes(page: bytes) -> dict[str, Shape]:
    forms: dict[str, set[str]] = {}
    for line in page.decode().splitlines():
        if line and not line.startswith("#"):
            value = line.rsplit(" ", 1)[1]
            forms.setdefault(re.split("[{ ]", line)[0], set()).add(re.sub(r"\d+", "9", value))
    return {
        family.name: shape(family, frozenset(forms[family.name]))
        for family in parse(page)
        if not family.name.startswith(OURS_ALONE)
    }


def shape(family: Family, forms: frozenset[str]) -> Shape:
    names = frozenset(tuple(label for label, _ in each.labels) for each in family.samples)
    return Shape(str(family.kind), family.help, names, forms, len(family.samples))


def differences(theirs: dict[str, Shape], ours: dict[str, Shape]) -> set[str]:
    found = {f"family {name} only there" for name in theirs.keys() - ours.keys()}
    found |= {f"family {name} only here" for name in ours.keys() - theirs.keys()}
    for name in theirs.keys() & ours.keys():
        their, our = theirs[name], ours[name]
        if their.kind != our.kind:
            found.add(f"type of {name}")
        if their.help != our.help:
            found.add(f"help of {name}")
        if their.value_forms != our.value_forms:
            found.add(f"form of the values of {name}")
        found |= label_differences(their.label_names, our.label_names)
    return found


def label_differences(
    their: frozenset[tuple[str, ...]], our: frozenset[tuple[str, ...]]
) -> set[str]:
    every = dict.fromkeys(name for each in (*sorted(their), *sorted(our)) for name in each)
    unlike = {name: (presence(name, their), presence(name, our)) for name in every}
    unlike = {name: pair for name, pair in unlike.items() if pair[0] != pair[1]}
    found = set()
    for words, pairs in WORDS.items():
        names = [name for name, pair in unlike.items() if pair in pairs]
        found |= {f"{each} {words}" for each in grouped(names)}
    common = {tuple(name for name in each if name not in unlike) for each in their}
    ours = {tuple(name for name in each if name not in unlike) for each in our}
    return found if common == ours else {*found, f"order {common} became {ours}"}


NONE, SOME, ALL = range(3)
WORDS = {
    "only there": {(SOME, NONE), (ALL, NONE)},
    "only here": {(NONE, SOME), (NONE, ALL)},
    "on fewer series here": {(ALL, SOME)},
    "on more series here": {(SOME, ALL)},
}


def presence(name: str, label_names: frozenset[tuple[str, ...]]) -> int:
    return (
        NONE + any(name in each for each in label_names) + all(name in each for each in label_names)
    )


def grouped(names: list[str]) -> list[str]:
    """Return labels that come and go together in one phrase."""
    phrases = []
    for group in (("container", "namespace", "pod"), ("GPU_I_PROFILE", "GPU_I_ID")):
        if set(group) <= set(names):
            phrases.append(f"labels {', '.join(group)}")
            names = [name for name in names if name not in group]
    return phrases + [f"label {name}" for name in names]


def counters_of(theirs: dict[str, Shape]) -> Selection:
    """Return what that exporter's counters file selected, from its page."""
    lines = [f"{name}, {each.kind}, {each.help}" for name, each in theirs.items()]
    return read_counters("\n".join(lines) + "\n" + LABEL_FIELDS, source="recorded")


def ours_alone_in(page: str, found: set[str]) -> set[str]:
    """Leave out what an excerpt cannot show."""
    if page not in EXCERPTS:
        return found
    return {each for each in found if not (each.startswith("family") and each.endswith("here"))}


@pytest.mark.shared
@pytest.mark.parametrize("name", PAGES)
def test_every_difference_to_a_recorded_page_is_explained(name: str) -> None:
    found = differences(recorded(name), shapes(render(NODES[name]).encode()))

    assert ours_alone_in(name, found) == {each.what for each in DIFFERENCES if name in each.pages}


@pytest.mark.shared
@pytest.mark.parametrize("name", SIMULATED)
def test_the_simulated_hardware_differs_from_a_recorded_page_in_nothing_else(name: str) -> None:
    found = differences(recorded(name), shapes(render(simulated(SIMULATED[name])).encode()))

    assert ours_alone_in(name, found) == {each.what for each in DIFFERENCES if name in each.pages}


@pytest.mark.shared
@pytest.mark.parametrize("name", PAGES)
def test_its_counters_file_and_switches_give_the_recorded_page_again(name: str) -> None:
    theirs = recorded(name)
    page = render(NODES[name], counters_of(theirs), OPTIONS.get(name, AS_THEN)).encode()
    ours = shapes(page)
    remaining = {each.what for each in DIFFERENCES if name in each.pages and not each.is_switchable}

    assert differences(theirs, ours) == remaining
    assert [each for each in theirs if each in ours] == list(ours)
    assert {each: theirs[each].sample_count for each in ours} == {
        each: ours[each].sample_count for each in ours
    }


def test_nodes_are_there_for_every_page() -> None:
    assert set(NODES) == set(PAGES)


def test_the_comparison_sees_each_kind_of_difference() -> None:
    theirs = shapes(b'# HELP a A.\n# TYPE a counter\na{x="1",y="2"} 1\nb{x="1"} 1\n')
    ours = shapes(b'# HELP a B.\n# TYPE a gauge\na{y="2",x="1",z=""} 1.5\nc 1\n')

    assert differences(theirs, ours) == {
        "family b only there",
        "family c only here",
        "type of a",
        "help of a",
        "form of the values of a",
        "label z only here",
        "order {('x', 'y')} became {('y', 'x')}",
    }
