"""Whole pages, reviewed. `GPUTIDE_UPDATE_GOLDEN=1 pytest ...` writes them anew."""

import os
import re
import shutil
import subprocess
from collections import Counter
from pathlib import Path

import pytest

from fakes import gpu_nodes
from fakes.simulated_nodes import simulated
from gputide.exporter.counters import read_counters
from gputide.exporter.model import Snapshot
from gputide.exporter.render import render
from gputide.exporter.selection import Selection
from gputide.exporter.simulated.profiles import PROFILES
from gputide.exposition import Format, parse

GOLDEN = Path(__file__).parents[2] / "golden/exporter"
EXCERPT = read_counters(
    """
DCGM_FI_DEV_SM_CLOCK, gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_GPU_UTIL, gauge, GPU utilization (in %).
DCGM_FI_PROF_GR_ENGINE_ACTIVE, gauge, Ratio of time the graphics engine is active.
DCGM_FI_DRIVER_VERSION, label, Driver Version
DCGM_EXP_CLOCK_EVENTS_COUNT, gauge, Clock events within the window.
DCGM_FI_DEV_NVSWITCH_TEMPERATURE_CURRENT, gauge, Only DCGM has it.
""",
    source="excerpt.csv",
)
NODES: dict[str, tuple[Snapshot, Selection | None]] = {
    "t4": (gpu_nodes.t4(), None),
    "a100": (gpu_nodes.a100(), None),
    "a100-mig": (gpu_nodes.a100_mig(), None),
    "h100x8-excerpt": (gpu_nodes.h100x8(), EXCERPT),
    "shared": (gpu_nodes.shared(), None),
    "lost": (gpu_nodes.lost(), None),
    "no-gpu": (gpu_nodes.no_gpu(), None),
    **{f"profile-{name}": (simulated(name), None) for name in PROFILES},
    "profile-a10-shared": (simulated("a10:shared"), None),
}

# What promtool says of DCGM's own names, which we print as they are, and of nothing else:
# `modelName` is a label in camel case, DCGM's counters do not end in _total, and one of them says
# "counter" in its name.
CAMEL_CASE = "label names should be written in 'snake_case' not 'camelCase'"
NO_TOTAL = 'counter metrics should have "_total" suffix'
TYPE_IN_NAME = "metric name should not include type 'counter'"
EXPECTED_LINT = re.compile(
    rf"DCGM_\w+ {re.escape(CAMEL_CASE)}|DCGM_FI_\w+ {re.escape(NO_TOTAL)}"
    rf"|DCGM_FI_DEV_PCIE_REPLAY_COUNTER {re.escape(TYPE_IN_NAME)}"
)


@pytest.mark.parametrize("name", NODES)
def test_a_page_is_as_it_was_reviewed(name: str) -> None:
    page = render(*NODES[name]).encode(Format.TEXT)
    path = GOLDEN / f"{name}.prom"
    if os.environ.get("GPUTIDE_UPDATE_GOLDEN"):
        path.write_bytes(page)

    assert page.decode() == path.read_text()


def test_no_golden_page_is_left_over() -> None:
    assert {path.stem for path in GOLDEN.iterdir()} == set(NODES)


@pytest.mark.parametrize("name", NODES)
def test_both_formats_say_the_same_under_the_same_names(name: str) -> None:
    page = render(*NODES[name])
    text = parse(page.encode(Format.TEXT))
    openmetrics = parse(page.encode(Format.OPENMETRICS), Format.OPENMETRICS)

    assert [f.samples for f in text] == [f.samples for f in openmetrics]


@pytest.mark.parametrize("name", NODES)
def test_no_series_stands_twice_on_a_page(name: str) -> None:
    families = parse(render(*NODES[name]).encode())
    seen = Counter((s.name, tuple(sorted(s.labels))) for f in families for s in f.samples)

    assert [series for series, count in seen.items() if count > 1] == []
    assert len({f.name for f in families}) == len(families)


@pytest.mark.parametrize("name", NODES)
def test_promtool_finds_nothing_but_what_dcgm_names_things(name: str) -> None:
    if shutil.which("promtool") is None:
        pytest.skip("promtool is not installed (Debian's package prometheus has it)")
    page = render(*NODES[name]).encode()
    done = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, check=False, timeout=60
    )
    lints = set(done.stderr.decode().splitlines())

    assert {lint for lint in lints if not EXPECTED_LINT.fullmatch(lint)} == set()
    assert done.returncode == (3 if lints else 0)
