import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio
import yaml

from fakes.ahpa_yaml import ahpa_yaml
from fakes.plane_server import Plane, plane_server
from gputide.cli import run
from gputide.kube.client import KubeClient
from gputide.kube.errors import NotFoundError
from gputide.kube.model import AUTOSCALERS, CONFIG_MAPS

DEFINITION = Path(__file__).parents[3] / "deploy/manifests/crd-ahpa.yaml"
GROUP = "advancedhorizontalpodautoscaler.autoscaling.alibabacloud.com"
MAP = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\ndata: {since: 2022-11-08, at: '9'}\n"


@pytest_asyncio.fixture
async def plane(tmp_path: Path) -> AsyncIterator[Plane]:
    """A server without definitions."""
    async with plane_server(tmp_path) as running:
        yield running


async def gputide(plane: Plane, *arguments: object) -> int:
    """Run the command in a thread of its own, beside the server."""
    given = ["apply", *map(str, arguments), "--kubeconfig", plane.settings.kubeconfig]
    return await asyncio.to_thread(run, given)


def write(path: Path, text: str) -> Path:
    path.write_text(text)
    return path


async def test_definition_and_object_are_created_then_unchanged_then_configured(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"{DEFINITION.read_text()}\n---\n{ahpa_yaml()}---\n{MAP}"
    path = write(tmp_path / "all.yaml", text)
    said = []
    for _ in range(2):
        assert await gputide(plane, "-f", path) == 0
        said.append([line.split()[-1] for line in capsys.readouterr().out.splitlines()])
    write(path, text.replace("maxReplicas: 100", "maxReplicas: 90"))
    assert await gputide(plane, "-f", path) == 0
    lines = capsys.readouterr().out.splitlines()

    assert said == [["created"] * 3, ["unchanged"] * 3]
    assert lines[1:] == [f"{GROUP}/fib-gpu configured", "configmap/one unchanged"]
    async with KubeClient(plane.settings) as client:
        found = await client.get(AUTOSCALERS, "default", "fib-gpu")
    assert found["metadata"]["managedFields"][0]["manager"] == "gputide"
    assert found["spec"]["maxReplicas"] == 90


async def test_a_dry_run_says_what_would_be_and_changes_nothing(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "one.yaml", MAP)

    assert await gputide(plane, "-f", path, "--dry-run") == 0

    assert capsys.readouterr().out == "configmap/one created (server dry run)\n"
    async with KubeClient(plane.settings) as client:
        with pytest.raises(NotFoundError):
            await client.get(CONFIG_MAPS, "default", "one")
        assert await gputide(plane, "-f", path) == 0
        write(path, MAP.replace("'9'", "'10'"))
        assert await gputide(plane, "-f", path, "--dry-run") == 0
        assert (await client.get(CONFIG_MAPS, "default", "one"))["data"]["at"] == "9"
    assert "configmap/one configured (server dry run)" in capsys.readouterr().out


async def test_dates_stay_the_texts_that_they_are(plane: Plane, tmp_path: Path) -> None:
    assert await gputide(plane, "-f", write(tmp_path / "one.yaml", MAP)) == 0

    async with KubeClient(plane.settings) as client:
        found = await client.get(CONFIG_MAPS, "default", "one")
    assert found["data"]["since"] == "2022-11-08"


async def test_a_folder_and_a_list_are_taken_apart_and_go_to_the_namespace_that_is_asked_for(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "manifests"
    folder.mkdir()
    items: list[Any] = [yaml.safe_load(MAP.replace("one", name)) for name in ("a", "b")]
    listed = {"apiVersion": "v1", "kind": "List", "items": items}
    write(folder / "1.json", yaml.safe_dump(listed, default_flow_style=True))
    write(folder / "2.yaml", MAP.replace("one", "c"))
    write(folder / "notes.txt", "not a manifest")

    assert await gputide(plane, "-f", folder, "-n", "gputide-system") == 0

    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == [
        f"configmap/{name}" for name in "abc"
    ]
    async with KubeClient(plane.settings) as client:
        assert await client.get(CONFIG_MAPS, "gputide-system", "c")


async def test_fields_of_another_manager_are_taken_over_only_when_asked(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path / "one.yaml", MAP)
    async with KubeClient(plane.settings) as client:
        data = {"metadata": {"name": "one"}, "data": {"at": "8"}}
        await client.create(CONFIG_MAPS, "default", data, field_manager="somebody")

    assert await gputide(plane, "-f", path) == 2
    assert "--force-conflicts takes them over" in capsys.readouterr().err
    assert await gputide(plane, "-f", path, "--force-conflicts") == 0
    assert capsys.readouterr().out == "configmap/one configured\n"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "holds no object"),
        ("3", "document 1: is no object but int"),
        ("a: [", "is no YAML: line 1"),
        ("kind: Pod\nmetadata: {name: x}", "names no apiVersion"),
        ("apiVersion: v1\nkind: Pod", "names no metadata.name"),
        (f"{MAP}---\napiVersion: v1\nkind: Nothing\nmetadata: {{name: x}}", "no Nothing of v1"),
        (MAP.replace("\ndata:", "\ndota:"), "dota"),
        (f"{MAP}data: {{}}\n", "a second time"),
        (MAP.replace("metadata: {", "metadata: {namespace: other, "), "is of namespace other"),
        (MAP.replace("name: one", "name: .."), "no object can have that name"),
        (MAP.replace("'9'", "9"), "data"),
    ],
)
async def test_what_cannot_be_applied_is_one_line_that_names_file_and_document(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, words: str
) -> None:
    path = write(tmp_path / "wrong.yaml", text)

    assert await gputide(plane, "-f", path, "-n", "default") == 2

    found = capsys.readouterr().err
    assert words in found
    assert str(path) in found
    assert found.count("\n") == 1


async def test_a_file_that_is_not_there_is_named(
    plane: Plane, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert await gputide(plane, "-f", tmp_path / "none.yaml") == 2
    assert "none.yaml: cannot be read" in capsys.readouterr().err
    (tmp_path / "empty").mkdir()
    assert await gputide(plane, "-f", tmp_path / "empty") == 2
    assert "holds no .yaml" in capsys.readouterr().err
