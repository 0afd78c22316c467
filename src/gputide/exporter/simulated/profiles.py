"""Which GPUs and nodes can be simulated. Data and its parser, pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from gputide.errors import SettingError

MIB = 2**20
MEGAHERTZ = 1e6
MAX_GPUS = 64


@dataclass(frozen=True, slots=True, kw_only=True)
class MigSlot:
    """A GPU instance that a simulated GPU is cut into."""

    gpu_instance_id: int
    profile: str
    memory_bytes: int
    compute_ratio: float
    """Its share of the GPU's compute slices, 0 to 1."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GpuProfile:
    """What a model of GPU is and can tell."""

    name: str
    model_name: str
    brand: str
    memory_bytes: int
    reserved_bytes: int
    bar1_bytes: int
    idle_watts: float
    limit_watts: float
    """Power limit by default, which is also the highest."""

    min_limit_watts: float
    idle_sm_hertz: float
    max_sm_hertz: float
    idle_memory_hertz: float
    max_memory_hertz: float
    max_video_hertz: float
    full_load_celsius: float
    """Temperature that it settles at under full power."""

    slowdown_celsius: float
    shutdown_celsius: float
    pcie_generation: int
    nvlink_bytes_per_second: float = 0
    """Both directions each; 0 is a GPU without NVLink."""

    has_hbm: bool = False
    """High-bandwidth memory: tells its temperature, runs at one clock, stays in P0."""

    has_gpm: bool = False
    """Hopper and newer: NVML gives profiling values."""

    has_row_remapping: bool = True
    """Ampere and newer; older ones retire pages."""

    mig: tuple[MigSlot, ...] = ()


def _mig(gpu_instance_id: int, profile: str, memory_mib: int, slices: int) -> MigSlot:
    return MigSlot(
        gpu_instance_id=gpu_instance_id,
        profile=profile,
        memory_bytes=memory_mib * MIB,
        compute_ratio=slices / 7,
    )


_T4 = GpuProfile(
    name="t4",
    model_name="Tesla T4",
    brand="Tesla",
    memory_bytes=15_360 * MIB,
    reserved_bytes=434 * MIB,
    bar1_bytes=256 * MIB,
    idle_watts=9,
    limit_watts=70,
    min_limit_watts=60,
    idle_sm_hertz=300 * MEGAHERTZ,
    max_sm_hertz=1590 * MEGAHERTZ,
    idle_memory_hertz=405 * MEGAHERTZ,
    max_memory_hertz=5001 * MEGAHERTZ,
    max_video_hertz=1470 * MEGAHERTZ,
    full_load_celsius=74,
    slowdown_celsius=93,
    shutdown_celsius=96,
    pcie_generation=3,
    has_row_remapping=False,
)
_A10 = replace(
    _T4,
    name="a10",
    model_name="NVIDIA A10",
    brand="NVIDIA",
    memory_bytes=23_028 * MIB,
    reserved_bytes=298 * MIB,
    bar1_bytes=32_768 * MIB,
    idle_watts=16,
    limit_watts=150,
    min_limit_watts=100,
    idle_sm_hertz=210 * MEGAHERTZ,
    max_sm_hertz=1695 * MEGAHERTZ,
    max_memory_hertz=6251 * MEGAHERTZ,
    max_video_hertz=1515 * MEGAHERTZ,
    full_load_celsius=70,
    slowdown_celsius=95,
    shutdown_celsius=98,
    pcie_generation=4,
    has_row_remapping=True,
)
_L40S = replace(
    _A10,
    name="l40s",
    model_name="NVIDIA L40S",
    memory_bytes=46_068 * MIB,
    reserved_bytes=605 * MIB,
    bar1_bytes=65_536 * MIB,
    idle_watts=33,
    limit_watts=350,
    max_sm_hertz=2520 * MEGAHERTZ,
    max_memory_hertz=9001 * MEGAHERTZ,
    max_video_hertz=1965 * MEGAHERTZ,
    full_load_celsius=68,
    slowdown_celsius=88,
    shutdown_celsius=91,
)
_A100 = replace(
    _A10,
    name="a100-40",
    model_name="NVIDIA A100-SXM4-40GB",
    memory_bytes=40_960 * MIB,
    reserved_bytes=576 * MIB,
    bar1_bytes=65_536 * MIB,
    idle_watts=46,
    limit_watts=400,
    idle_sm_hertz=210 * MEGAHERTZ,
    max_sm_hertz=1410 * MEGAHERTZ,
    idle_memory_hertz=1215 * MEGAHERTZ,
    max_memory_hertz=1215 * MEGAHERTZ,
    max_video_hertz=1290 * MEGAHERTZ,
    full_load_celsius=66,
    slowdown_celsius=89,
    shutdown_celsius=92,
    nvlink_bytes_per_second=300e9,
    has_hbm=True,
)
_H100 = replace(
    _A100,
    name="h100",
    model_name="NVIDIA H100 80GB HBM3",
    memory_bytes=81_559 * MIB,
    reserved_bytes=551 * MIB,
    bar1_bytes=131_072 * MIB,
    idle_watts=70,
    limit_watts=700,
    min_limit_watts=200,
    idle_sm_hertz=345 * MEGAHERTZ,
    max_sm_hertz=1980 * MEGAHERTZ,
    idle_memory_hertz=2619 * MEGAHERTZ,
    max_memory_hertz=2619 * MEGAHERTZ,
    max_video_hertz=1545 * MEGAHERTZ,
    full_load_celsius=64,
    slowdown_celsius=87,
    shutdown_celsius=92,
    pcie_generation=5,
    nvlink_bytes_per_second=450e9,
    has_gpm=True,
)
_H200 = replace(
    _H100,
    name="h200",
    model_name="NVIDIA H200",
    memory_bytes=143_771 * MIB,
    reserved_bytes=602 * MIB,
    bar1_bytes=262_144 * MIB,
    idle_watts=76,
    idle_memory_hertz=3201 * MEGAHERTZ,
    max_memory_hertz=3201 * MEGAHERTZ,
)
_A100_MIG = replace(
    _A100,
    name="a100-mig",
    mig=(
        _mig(5, "2g.10gb", 9_856, 2),
        _mig(7, "1g.5gb", 4_864, 1),
        _mig(8, "1g.5gb", 4_864, 1),
        _mig(9, "1g.5gb", 4_864, 1),
    ),
)
_H100_MIG = replace(
    _H100,
    name="h100-mig",
    mig=(
        _mig(1, "3g.40gb", 40_448, 3),
        _mig(5, "2g.20gb", 20_096, 2),
        _mig(9, "1g.10gb", 9_984, 1),
        _mig(10, "1g.10gb", 9_984, 1),
    ),
)

PROFILES: Mapping[str, GpuProfile] = {
    each.name: each for each in (_T4, _A10, _L40S, _A100, _A100_MIG, _H100, _H100_MIG, _H200)
}
_ALIASES = {"a100": "a100-40"}


class Layout(StrEnum):
    """Who holds the simulated GPUs."""

    EXCLUSIVE = "exclusive"
    """One pod on each GPU, or on each MIG instance."""

    SHARED = "shared"
    """Three pods on each GPU, by GPU memory; MIG instances stay exclusive."""

    IDLE = "idle"
    """Nobody."""


@dataclass(frozen=True, slots=True)
class SimulatedGpu:
    """One GPU of a simulated node."""

    profile: GpuProfile
    layout: Layout = Layout.EXCLUSIVE


@dataclass(frozen=True, slots=True)
class SimulatedNode:
    """The GPUs of a simulated node, by index."""

    gpus: tuple[SimulatedGpu, ...]


_GROUP = re.compile(r"(?P<name>[a-z0-9-]+?)(?:x(?P<count>[0-9]{1,3}))?(?::(?P<layout>[a-z]+))?")


def parse_simulation(text: str, *, setting: str = "simulate") -> SimulatedNode:
    """Return the node that a text asks for: PROFILE[xN][:LAYOUT], several joined by commas.

    Raise SettingError, naming the profiles there are.

    >>> [gpu.profile.name for gpu in parse_simulation("t4x2").gpus]
    ['t4', 't4']
    >>> [gpu.layout.value for gpu in parse_simulation("a10:shared,h100-mig,t4:idle").gpus]
    ['shared', 'exclusive', 'idle']
    """
    gpus = tuple(gpu for part in text.split(",") for gpu in _group(part.strip().lower(), setting))
    if len(gpus) > MAX_GPUS:
        raise SettingError(setting, f"{len(gpus)} GPUs; at most {MAX_GPUS}")
    return SimulatedNode(gpus)


def _group(part: str, setting: str) -> tuple[SimulatedGpu, ...]:
    found = _GROUP.fullmatch(part)
    profile = None
    if found is not None:
        profile = PROFILES.get(_ALIASES.get(found["name"], found["name"]))
    if found is None or profile is None:
        raise SettingError(
            setting,
            f"no profile {part!r}: give PROFILE[xN][:LAYOUT] such as h100x8 or a10x2:shared;"
            f" profiles: {', '.join(PROFILES)}; layouts: {', '.join(Layout)}",
        )
    count = int(found["count"] or 1)
    if not 0 < count <= MAX_GPUS:
        raise SettingError(setting, f"{part!r} asks for {count} GPUs; give 1 to {MAX_GPUS}")
    layout = found["layout"] or Layout.EXCLUSIVE
    if layout not in set(Layout):
        raise SettingError(setting, f"no layout {layout!r}; layouts: {', '.join(Layout)}")
    return (SimulatedGpu(profile, Layout(layout)),) * count
