"""A driver made for tests: nvml/libnvidia-ml.c, compiled, under the unmodified NVML binding.

    driver = NvmlDriver(build(folder), folder / "state")
    driver.run("result = [d.uuid for d in reader.devices()]", {"count": 2})

The loader looks for the library when a process starts, and the binding keeps it: so each program
runs in a process of its own, and hands its `result` back as JSON.
"""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

SOURCE = Path(__file__).parent / "nvml/libnvidia-ml.c"
PREAMBLE = """
import json, os, sys
import pynvml
from gputide.clock import SystemClock
from gputide.errors import GputideError
from gputide.exporter.fields import Field
from gputide.exporter.nvml.reader import NvmlReader

clock = SystemClock()
reader = NvmlReader(clock)

def state(values):
    path = os.environ["GPUTIDE_FAKE_NVML"]
    with open(path + ".new", "w") as file:
        file.writelines(f"{key} {value}\\n" for key, value in values.items())
    os.replace(path + ".new", path)

def problem(call, *args):
    try:
        call(*args)
    except GputideError as error:
        return [type(error).__name__, str(error)]
    return None

def calls():
    return pynvml.nvmlLib.gputide_fake_calls()
"""
ENDING = """
print("\\n" + json.dumps(result))
sys.stdout.flush()
os._exit(0)  # a thread may hang in the driver
"""


@dataclass(frozen=True)
class NvmlDriver:
    """A compiled stand-in, and the file with what its GPUs are like."""

    folder: Path
    state_file: Path

    def run(self, program: str, state: Mapping[str, object] | None = None) -> Any:  # noqa: ANN401 JSON
        """Run a program that sets `result`, on GPUs of that state; return the result."""
        lines = (f"{key} {value}\n" for key, value in (state or {}).items())
        self.state_file.write_text("".join(lines))
        environment = {
            **os.environ,
            "LD_LIBRARY_PATH": str(self.folder),
            "GPUTIDE_FAKE_NVML": str(self.state_file),
        }
        done = subprocess.run(
            [sys.executable, "-c", PREAMBLE + program + ENDING],
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
        assert done.returncode == 0, done.stderr + done.stdout
        return json.loads(done.stdout.splitlines()[-1])


def build(folder: Path, *, is_old: bool = False) -> Path:
    """Compile the stand-in into a folder and return it; old is a driver before 510."""
    if shutil.which("gcc") is None:
        pytest.skip("gcc is not installed")
    nvidia = pytest.importorskip("nvidia", reason="nvidia-nvml-dev is not installed")
    headers = [path for root in nvidia.__path__ for path in Path(root).glob("cu*/include/nvml.h")]
    folder.mkdir(parents=True, exist_ok=True)
    subprocess.run(
        [
            *("gcc", "-shared", "-fPIC", "-fvisibility=hidden", "-Wl,-soname,libnvidia-ml.so.1"),
            *("-Wall", "-Wextra", "-Werror", *(["-DOLD_DRIVER"] if is_old else [])),
            *(f"-I{headers[0].parent}", "-o", str(folder / "libnvidia-ml.so.1"), str(SOURCE)),
        ],
        check=True,
        capture_output=True,
        timeout=60,
    )
    return folder
