import asyncio
import json
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from fakes.ahpa_yaml import ahpa_yaml
from fakes.kubectl import Kubectl
from fakes.plane_server import Plane, plane_server
from gputide.cli import run
from gputide.kube.client import KubeClient
from gputide.kube.model import AUTOSCALERS, NAMESPACES

DEFINITION = Path(__file__).parents[3] / "deploy/manifests/crd-ahpa.yaml"


@pytest_asyncio.fixture
async def plane(tmp_path: Path) -> AsyncIterator[Plane]:
    """A server with autoscalers `fib-gpu` in two namespaces, one with a status."""
    definition = yaml.safe_load(DEFINITION.read_text())
    async with plane_server(tmp_path, definitions=[definition]) as running:
        async with KubeClient(running.settings) as client:
            await client.create(NAMESPACES, "", {"metadata": {"name": "team-b"}})
            autoscaler = yaml.safe_load(ahpa_yaml())
            for namespace in ("default", "team-b"):
                autoscaler["metadata"]["namespace"] = namespace
                await client.create(AUTOSCALERS, namespace, autoscaler)
            await tell(client, 12)
        yield running


async def tell(client: KubeClient, replicas: int) -> None:
    status = {"status": {"currentReplicas": replicas, "desiredReplicas": replicas}}
    await client.patch(AUTOSCALERS, "default", "fib-gpu", status, subresource="status")


async def gputide(plane: Plane, *arguments: str) -> int:
    """Run the command in a thread of its own, beside the server."""
    given = [*arguments, "--kubeconfig", plane.settings.kubeconfig]
    return await asyncio.to_thread(run, given)


async def kubectl(plane: Plane, *arguments: str) -> str:
    path = Path(plane.settings.kubeconfig)
    return await asyncio.to_thread(Kubectl(path, path.parent), *arguments)


def without_age(text: str) -> list[str]:
    """Return the lines less the last column, which goes on counting."""
    return [line.rpartition(" ")[0] for line in text.splitlines()]


@pytest.mark.parametrize(
    "arguments",
    [
        ["get", "ahpa"],
        ["get", "ahpa", "-A"],
        ["get", "ahpa", "fib-gpu", "-n", "team-b"],
        ["get", "advancedhorizontalpodautoscalers"],
    ],
)
async def test_the_table_is_the_one_that_kubectl_prints(
    plane: Plane, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    expected = await kubectl(plane, *arguments)

    assert await gputide(plane, *arguments) == 0

    assert without_age(capsys.readouterr().out) == without_age(expected)


async def test_the_wide_table_has_all_columns_that_kubectl_prints(
    plane: Plane, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = await kubectl(plane, "get", "ahpa", "-o", "wide")

    assert await gputide(plane, "get", "ahpa", "-o", "wide") == 0

    found = capsys.readouterr().out
    assert len(found.splitlines()) == 2
    assert re.sub(r" \d+s ", " AGE ", found) == re.sub(r" \d+s ", " AGE ", expected)


@pytest.mark.parametrize("arguments", [["get", "ahpa"], ["get", "ahpa", "fib-gpu"]])
async def test_objects_are_those_that_kubectl_prints(
    plane: Plane, capsys: pytest.CaptureFixture[str], arguments: list[str]
) -> None:
    for form in ("json", "yaml"):
        expected: Any = yaml.safe_load(await kubectl(plane, *arguments, "-o", form))

        assert await gputide(plane, *arguments, "-o", form) == 0

        found = capsys.readouterr().out
        assert yaml.safe_load(found) == expected
        assert form == "yaml" or json.loads(found)["kind"]


async def test_nothing_is_said_as_kubectl_says_it(
    plane: Plane, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await gputide(plane, "get", "ahpa", "-n", "empty") == 0

    found = capsys.readouterr()
    assert (found.out, found.err) == ("", "No resources found in empty namespace.\n")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["get", "ahpa", "absent"], '"absent" not found'),
        (["get", "pods"], "`ahpa` is"),
        (["get", "ahpa", "x", "-A"], "a name is of one namespace"),
        (["get", "ahpa", "-w", "-o", "json"], "leave out -o"),
        (["get", "ahpa", "../pods"], "no object can have that name"),
        (["get", "ahpa", "--context", "none"], "none"),
    ],
)
async def test_what_cannot_be_shown_is_one_line_and_exit_2(
    plane: Plane, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert await gputide(plane, *arguments) == 2

    found = capsys.readouterr()
    assert found.out == ""
    assert words in found.err
    assert found.err.count("\n") == 1


async def test_a_server_without_the_resource_is_told_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with plane_server(tmp_path) as bare:
        assert await gputide(bare, "get", "ahpa") == 2

    assert capsys.readouterr().err.count("\n") == 1


async def test_watching_prints_a_row_whenever_one_changes(plane: Plane) -> None:
    command = [sys.executable, "-m", "gputide", "get", "ahpa", "--watch", "--kubeconfig"]
    process = await asyncio.create_subprocess_exec(
        *command, plane.settings.kubeconfig, stdout=subprocess.PIPE
    )
    assert process.stdout is not None
    try:
        async with asyncio.timeout(30), KubeClient(plane.settings) as client:
            lines = [await process.stdout.readline() for _ in range(2)]
            await tell(client, 13)
            lines.append(await process.stdout.readline())
            await tell(client, 14)
            lines.append(await process.stdout.readline())
            process.terminate()
            code = await process.wait()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()

    assert [line.split()[3].decode() for line in lines[1:]] == ["12", "13", "14"]
    assert code == 0
