"""A process that writes is killed at any moment; nothing that it acknowledged is lost."""

import asyncio
import subprocess
import sys
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.storages import ALL, WIDGET, by_one_label
from gputide.kubeapi.storage import SqliteStorage

WRITER = """
import asyncio, sys
from gputide.clock import SystemClock
from gputide.kubeapi.model import Kind
from gputide.kubeapi.storage import SqliteStorage

WIDGET = Kind(group="x.io", version="v1", kind="Widget", plural="widgets")

async def write(store, writer):
    for n in range(10_000):
        name = f"w{writer}-{n:05}"
        obj = {"apiVersion": "x.io/v1", "kind": "Widget", "spec": {"text": "x" * 500}}
        made = await store.create(WIDGET, obj | {"metadata": {"name": name, "namespace": "n"}})
        print(name, made["metadata"]["resourceVersion"], flush=True)

async def main():
    select = lambda _: lambda _: True
    async with SqliteStorage.open(sys.argv[1], SystemClock(), select=select) as store:
        await asyncio.gather(*(write(store, writer) for writer in range(4)))

asyncio.run(main())
"""


def killed_after(lines: int, path: Path) -> set[tuple[str, ...]]:
    """Return (name, resourceVersion) of all that was acknowledged before the kill."""
    writer = subprocess.Popen(
        [sys.executable, "-c", WRITER, str(path)], stdout=subprocess.PIPE, text=True
    )
    assert writer.stdout is not None
    said = [writer.stdout.readline() for _ in range(lines)]
    writer.kill()
    said += writer.stdout.readlines()
    writer.wait(10)
    writer.stdout.close()
    return {tuple(line.split()) for line in said if line.endswith("\n")}


@pytest.mark.parametrize("lines", [1, 50, 333])
async def test_what_was_acknowledged_survives_kill_9(tmp_path: Path, lines: int) -> None:
    path = tmp_path / "state.db"
    acknowledged = await asyncio.to_thread(killed_after, lines, path)

    async with SqliteStorage.open(path, FakeClock(), select=by_one_label) as store:
        page = await store.list(WIDGET, ALL)
        kept = {(one["metadata"]["name"], one["metadata"]["resourceVersion"]) for one in page.items}

        assert len(acknowledged) >= lines
        assert acknowledged <= kept
        assert page.resource_version == str(1 + len(kept))
