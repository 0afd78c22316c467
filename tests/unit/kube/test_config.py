import json
from pathlib import Path
from typing import Any

import pytest

from gputide.errors import InputError
from gputide.kube.config import connect
from gputide.kube.settings import KubeSettings


def config(server: str = "http://10.0.0.1:6443", **context: Any) -> dict[str, Any]:  # noqa: ANN401 any JSON
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "current-context": "one",
        "clusters": [{"name": "c", "cluster": {"server": server}}],
        "users": [{"name": "u", "user": {"token": "secret-token"}}],
        "contexts": [
            {"name": "one", "context": {"cluster": "c", "user": "u", **context}},
            {"name": "two", "context": {"cluster": "c", "user": "u", "namespace": "second"}},
        ],
    }


def write(path: Path, content: object) -> Path:
    path.write_text(json.dumps(content))
    return path


async def test_the_current_context_says_server_and_namespace(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config(namespace="demo"))

    connected = connect(KubeSettings(kubeconfig=str(path)), {})

    assert (connected.server, connected.namespace) == ("http://10.0.0.1:6443", "demo")


async def test_another_context_can_be_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path / "config", config())

    found = connect(KubeSettings(kubeconfig=str(path), context="two"), {})

    assert found.namespace == "second"
    assert connect(KubeSettings(kubeconfig=str(path)), {}).namespace == "default"


async def test_the_environment_names_files_of_which_the_first_that_exists_is_read(
    tmp_path: Path,
) -> None:
    path = write(tmp_path / "config", config(namespace="demo"))

    connected = connect(KubeSettings(), {"KUBECONFIG": f"{tmp_path / 'none'}:{path}"})

    assert connected.namespace == "demo"


def test_a_file_that_the_environment_names_must_exist(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="none"):
        connect(KubeSettings(), {"KUBECONFIG": str(tmp_path / "none")})


@pytest.mark.parametrize(
    "content",
    [
        *(None, [], 3, "text", {}, {"contexts": 3}, {"contexts": [{}], "current-context": "x"}),
        config() | {"current-context": ""},
        config() | {"current-context": "absent"},
        config() | {"users": []},
        config() | {"clusters": [{"name": "c"}]},
        config() | {"users": [{"name": "u", "user": {"client-certificate-data": "!"}}]},
    ],
)
def test_what_is_no_kubeconfig_is_named_in_one_line(tmp_path: Path, content: object) -> None:
    path = write(tmp_path / "config", content)

    with pytest.raises(InputError) as caught:
        connect(KubeSettings(kubeconfig=str(path)), {})

    assert str(path) in str(caught.value)
    assert "secret-token" not in str(caught.value)


@pytest.mark.parametrize("content", [b"\xff\xfe", b"a: [", b"\x00"])
def test_a_file_that_is_no_yaml_is_named(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "config"
    path.write_bytes(content)

    with pytest.raises(InputError, match="config"):
        connect(KubeSettings(kubeconfig=str(path)), {})
