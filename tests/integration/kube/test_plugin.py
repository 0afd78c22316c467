import asyncio
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fakes.http_server import Request, http_server, response
from gputide.kube.client import KubeClient
from gputide.kube.errors import UnauthorizedError, UnreachableError
from gputide.kube.model import PODS
from gputide.kube.settings import KubeSettings

Plugged = Callable[..., KubeSettings]
EMPTY = b'{"items": [], "metadata": {"resourceVersion": "1"}}'
COUNTED = 'echo x >> "$CALLS"; n=$(wc -l < "$CALLS"); n=$((n))\n'
TOKEN = """printf '{"kind": "ExecCredential", "status": {"token": "token-%s"}}' "$n"\n"""


@pytest.fixture
def plugged(tmp_path: Path) -> Plugged:
    """Return what makes the settings of a server whose kubeconfig runs a shell script."""

    def make(url: str, script: str, version: str = "v1") -> KubeSettings:
        plugin = {
            "apiVersion": f"client.authentication.k8s.io/{version}",
            "command": "/bin/sh",
            "args": ["-c", script],
            "env": [{"name": "CALLS", "value": str(tmp_path / "calls")}],
        }
        content = {
            "current-context": "t",
            "clusters": [{"name": "t", "cluster": {"server": url}}],
            "users": [{"name": "t", "user": {"exec": plugin}}],
            "contexts": [{"name": "t", "context": {"cluster": "t", "user": "t"}}],
        }
        path = tmp_path / "kubeconfig"
        path.write_text(json.dumps(content))
        return KubeSettings(kubeconfig=str(path), timeout_seconds=10)

    return make


def calls(folder: Path) -> int:
    return len((folder / "calls").read_text().splitlines())


def takes(*tokens: str) -> Callable[[Request], bytes]:
    def answer(request: Request) -> bytes:
        is_known = request.headers["authorization"].removeprefix("Bearer ") in tokens
        return response(EMPTY) if is_known else response(b"{}", "401 Unauthorized")

    return answer


@pytest.mark.parametrize("version", ["v1", "v1beta1"])
async def test_many_requests_at_once_run_the_plugin_once(
    plugged: Plugged, tmp_path: Path, version: str
) -> None:
    async with (
        http_server(takes("token-1")) as server,
        KubeClient(plugged(server.url, COUNTED + TOKEN, version)) as client,
    ):
        await asyncio.gather(*(client.list(PODS) for _ in range(5)))

    assert calls(tmp_path) == 1


async def test_a_refused_token_is_asked_for_anew(plugged: Plugged, tmp_path: Path) -> None:
    async with (
        http_server(takes("token-2")) as server,
        KubeClient(plugged(server.url, COUNTED + TOKEN)) as client,
    ):
        await client.list(PODS)
        await client.list(PODS)

    assert calls(tmp_path) == 2


async def test_a_token_that_is_refused_again_is_told_and_asked_for_no_more(
    plugged: Plugged, tmp_path: Path
) -> None:
    async with (
        http_server(takes()) as server,
        KubeClient(plugged(server.url, COUNTED + TOKEN)) as client,
    ):
        with pytest.raises(UnauthorizedError):
            await client.list(PODS)

    assert calls(tmp_path) == 2


async def test_the_plugin_hears_what_is_asked_of_it(plugged: Plugged, tmp_path: Path) -> None:
    heard = tmp_path / "heard"
    script = f'printf %s "$KUBERNETES_EXEC_INFO" > {heard}; n=1\n{TOKEN}'
    async with (
        http_server(takes("token-1")) as server,
        KubeClient(plugged(server.url, script)) as client,
    ):
        await client.list(PODS)
    asked: dict[str, Any] = json.loads(heard.read_text())

    assert asked["apiVersion"] == "client.authentication.k8s.io/v1"
    assert (asked["kind"], asked["spec"]) == ("ExecCredential", {"interactive": False})


@pytest.mark.parametrize(
    ("script", "version", "words"),
    [
        ("echo hello", "v1", "prints no ExecCredential"),
        ("echo '{\"status\": null}'", "v1", "prints no ExecCredential"),
        ('echo \'{"status": {"clientKeyData": "secret"}}\'', "v1", "gives no bearer token"),
        ('printf \'{"status": {"token": "a\\\\nb"}}\'', "v1", "gives no bearer token"),
        ("printf 'log in\nfirst\n' >&2; exit 3", "v1", "ends with 3: log in first"),
        ("exit 0", "v9", "unknown apiVersion"),
    ],
)
async def test_a_plugin_without_a_token_is_one_line_that_names_it(
    plugged: Plugged, script: str, version: str, words: str
) -> None:
    async with http_server(takes("token-1")) as server:
        settings = replace(plugged(server.url, script, version), timeout_seconds=5)
        async with KubeClient(settings, random=lambda: 0.0) as client:
            with pytest.raises(UnreachableError, match=words) as caught:
                await client.list(PODS)

    assert server.requests == []
    assert "/bin/sh" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert "secret" not in str(caught.value)


async def test_a_plugin_that_hangs_is_ended_at_the_deadline(
    plugged: Plugged, tmp_path: Path
) -> None:
    script = f"echo $$ > {tmp_path / 'pid'}; tail -f /dev/null"
    async with http_server(takes("token-1")) as server:
        settings = replace(plugged(server.url, script), timeout_seconds=0.5)
        async with KubeClient(settings) as client:
            with pytest.raises(UnreachableError, match="does not answer in time"):
                await client.list(PODS)

    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)
