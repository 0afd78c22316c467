"""The tutorial's commands, as they stand in it."""

import re
import subprocess
import sys
from pathlib import Path

import msgspec

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "docs/tutorial/first-look.md"


def shell_blocks() -> list[str]:
    return re.findall(r"^```sh\n(.*?)^```$", TUTORIAL.read_text(), flags=re.MULTILINE | re.DOTALL)


def test_the_first_look_works_as_typed(tmp_path: Path) -> None:
    activate, load, forecast, backtest = shell_blocks()
    assert activate == "source .venv/bin/activate\n"
    commands = f"set -eu\n{load}\n{forecast}\n{backtest}"
    environment = {"PATH": f"{Path(sys.executable).parent}:/usr/bin:/bin", "LC_ALL": "C.UTF-8"}

    done = subprocess.run(
        ["bash", "-c", commands],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )

    assert done.returncode == 0, done.stderr
    assert "Seasons: day" in done.stdout
    assert "Switch to auto" in done.stdout
    report = msgspec.json.decode((tmp_path / "chat.json").read_bytes())
    assert report
    assert "Predict POD Observer" in (tmp_path / "chat.html").read_text()
