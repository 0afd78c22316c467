"""What the real kubectl makes of the server; one server for each group of commands."""

import asyncio
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

from fakes.api_servers import Api, Gate, api_server
from fakes.kubectl import KUBECTL
from gputide.kubeapi.kinds import Addresses, builtin_kinds
from gputide.kubeapi.reviews import reviews

BOX_YAML = """\
apiVersion: x.io/v1
kind: Box
metadata: {name: b1, labels: {team: x}}
spec: {size: 3, replicas: 2}
"""
WEB_YAML = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: main, image: demo}, {name: side, image: demo}]}
"""


@dataclass(frozen=True, slots=True)
class Output:
    code: int
    out: str
    err: str


@dataclass(frozen=True, slots=True)
class Shell:
    """kubectl against a server, with a home of its own."""

    api: Api
    folder: Path

    async def start(self, *arguments: str) -> asyncio.subprocess.Process:
        return await asyncio.create_subprocess_exec(
            KUBECTL,
            f"--server={self.api.url}",
            f"--cache-dir={self.folder / 'cache'}",
            *arguments,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            env={"PATH": os.environ["PATH"], "HOME": str(self.folder)},
        )

    async def run(self, *arguments: str, text: str = "") -> Output:
        process = await self.start(*arguments)
        out, err = await asyncio.wait_for(process.communicate(text.encode()), 60)
        return Output(process.returncode or 0, out.decode(), err.decode())

    async def kubectl(self, *arguments: str, text: str = "") -> str:
        done = await self.run(*arguments, text=text)
        assert done.code == 0, f"kubectl {' '.join(arguments)}: {done.out}{done.err}"
        return done.out

    async def rows(self, *arguments: str) -> list[list[str]]:
        return [line.split() for line in (await self.kubectl(*arguments)).splitlines()]


@asynccontextmanager
async def plane(folder: Path, gate: Gate | None = None) -> AsyncIterator[Shell]:
    async with api_server(gate=gate) as api:
        for kind in builtin_kinds(Addresses()):
            api.registry.add_kind(kind)
        for virtual in reviews(api.gate, api.gate):
            api.registry.add_virtual(virtual)
        yield Shell(api, folder)


async def test_kubectl_gets_in_every_form(tmp_path: Path) -> None:
    async with plane(tmp_path) as api:
        await api.kubectl("apply", "-f", "-", text=BOX_YAML)
        assert (await api.rows("get", "box"))[0] == ["NAME", "SIZE", "AGE"]
        assert (await api.rows("get", "bx", "-o", "wide"))[1][:3] == ["b1", "3", "a"]
        assert (await api.rows("get", "boxes", "-A"))[1][:3] == ["default", "b1", "3"]
        assert "size: 3" in await api.kubectl("get", "box", "b1", "-o", "yaml")
        assert (await api.rows("get", "box", "--show-labels"))[1][-1] == "team=x"
        assert len(await api.rows("get", "box", "-l", "team in (x)")) == 2
        assert await api.rows("get", "box", "-l", "team!=x") == []
        assert len(await api.rows("get", "box", "--sort-by=.spec.size")) == 2
        assert len(await api.rows("get", "box", "--chunk-size=1")) == 2
        assert "b1" in await api.kubectl("get", "all")
        missing = await api.run("get", "box", "none")
        assert missing.err == 'Error from server (NotFound): boxes.x.io "none" not found\n'


async def test_kubectl_learns_what_there_is(tmp_path: Path) -> None:
    async with plane(tmp_path) as api:
        rows = await api.rows("api-resources", "--api-group=x.io")
        assert rows[1] == ["boxes", "bx", "x.io/v1", "true", "Box"]
        assert "load.x.io/v1" in await api.kubectl("api-versions")
        explained = await api.kubectl("explain", "box.spec.mode")
        assert "ENUM:\n    a\n    b" in explained
        assert "Which way up." in explained
        assert "metadata\t<ObjectMeta>" in await api.kubectl("explain", "box")
        raw = "/apis/load.x.io/v1/namespaces/default/loads/one"
        assert json.loads(await api.kubectl("get", "--raw", raw))["value"] == "63500m"
        assert "Server Version: v1.37" in await api.kubectl("version")
        await api.kubectl("apply", "-f", "-", text=BOX_YAML)
        described = await api.kubectl("describe", "box", "b1")
        assert "Size:      3" in described


async def test_kubectl_applies_on_the_client(tmp_path: Path) -> None:
    larger = BOX_YAML.replace("size: 3", "size: 5")
    async with plane(tmp_path) as api:
        tried = await api.kubectl("apply", "--dry-run=server", "-f", "-", text=BOX_YAML)
        assert tried == "box.x.io/b1 created (server dry run)\n"
        assert (await api.run("get", "box", "b1")).code == 1
        apply = ("apply", "-f", "-")
        assert await api.kubectl(*apply, text=BOX_YAML) == "box.x.io/b1 created\n"
        assert await api.kubectl(*apply, text=BOX_YAML) == "box.x.io/b1 unchanged\n"
        assert await api.kubectl(*apply, text=larger) == "box.x.io/b1 configured\n"
        differing = await api.run("diff", "-f", "-", text=BOX_YAML)
        assert (differing.code, "+  size: 3" in differing.out) == (1, True)
        unknown = await api.run(*apply, text=BOX_YAML.replace("size: 3", "size: 3, foo: 1"))
        assert 'unknown field "spec.foo"' in unknown.err
        invalid = await api.run(*apply, text=BOX_YAML.replace("size: 3", "size: 0"))
        assert invalid.err.startswith('The Box "b1" is invalid: spec.size: Invalid value: 0:')
        ignored = BOX_YAML.replace("size: 3", "size: 4, foo: 1")
        await api.kubectl(*apply, "--validate=false", text=ignored)


async def test_kubectl_applies_on_the_server(tmp_path: Path) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    async with plane(tmp_path) as api:
        assert await api.kubectl(*apply, text=BOX_YAML) == "box.x.io/b1 serverside-applied\n"
        await api.kubectl(*apply, text=BOX_YAML)
        await api.kubectl("patch", "box", "b1", "--type=merge", "-p", '{"spec":{"size":9}}')
        refused = await api.run(*apply, text=BOX_YAML)
        assert 'conflict with "kubectl-patch" using x.io/v1: .spec.size' in refused.err
        await api.kubectl(*apply, "--force-conflicts", text=BOX_YAML)
        get = ("get", "box", "b1", "-o", "jsonpath={.spec.size}")
        assert await api.kubectl(*get) == "3"


async def test_kubectl_patches_scales_and_waits(tmp_path: Path) -> None:
    status = '{"status":{"conditions":[{"type":"Ready","status":"True"}]}}'
    async with plane(tmp_path) as api:
        await api.kubectl("apply", "-f", "-", text=BOX_YAML)
        patch = ("patch", "box", "b1")
        await api.kubectl(*patch, "--type=merge", "-p", '{"spec":{"size":4}}')
        operation = '[{"op":"replace","path":"/spec/size","value":5}]'
        await api.kubectl(*patch, "--type=json", "-p", operation)
        refused = await api.run(*patch, "-p", '{"spec":{"size":6}}')
        assert "strategic-merge-patch+json is not supported" in refused.err
        await api.kubectl("scale", "box", "b1", "--replicas=7")
        await api.kubectl("label", "box", "b1", "more=y")
        await api.kubectl("annotate", "box", "b1", "note=z")
        path = "jsonpath={.spec.size} {.spec.replicas} {.metadata.labels.more}"
        assert await api.kubectl("get", "box", "b1", "-o", path) == "5 7 y"
        await api.kubectl(*patch, "--subresource=status", "--type=merge", "-p", status)
        await api.kubectl("wait", "box/b1", "--for=condition=Ready", "--timeout=20s")
        await api.kubectl("delete", "box", "b1", "--timeout=20s")
        await api.kubectl("wait", "box/b1", "--for=delete", "--timeout=20s")


async def test_kubectl_changes_a_deployment(tmp_path: Path) -> None:
    get = ("get", "deploy", "web", "-o")
    newer = WEB_YAML.replace("name: main, image: demo", "name: main, image: new")
    async with plane(tmp_path) as api:
        await api.kubectl("apply", "-f", "-", text=WEB_YAML)
        await api.kubectl("set", "env", "deploy/web", "-c", "side", "A=b")
        await api.kubectl("apply", "-f", "-", text=newer)
        images = "jsonpath={.spec.template.spec.containers[*].image}"
        assert await api.kubectl(*get, images) == "new demo"
        kept = "jsonpath={.spec.template.spec.containers[1].env[0].name}"
        assert await api.kubectl(*get, kept) == "A"  # lists merge by the name of their items
        await api.kubectl("scale", "deploy", "web", "--replicas=5")
        assert (await api.rows("get", "deploy"))[1][:2] == ["web", "0/5"]


async def test_kubectl_creates_by_its_typed_commands(tmp_path: Path) -> None:
    async with plane(tmp_path) as api:
        await api.kubectl("create", "namespace", "demo")
        await api.kubectl("create", "configmap", "c", "--from-literal=a=b", "-n", "demo")
        assert await api.kubectl("get", "cm", "c", "-n", "demo", "-o", "jsonpath={.data.a}") == "b"
        await api.kubectl("create", "secret", "generic", "s", "--from-literal=p=q")
        await api.kubectl("create", "serviceaccount", "robot")
        await api.kubectl(
            "create", "deployment", "web", "--image=demo", "--replicas=3", "--port=80"
        )
        assert (await api.rows("get", "deploy"))[1][:2] == ["web", "0/3"]
        await api.kubectl("create", "service", "clusterip", "web", "--tcp=80:8080")
        await api.kubectl("create", "role", "r", "--verb=get", "--resource=pods")
        await api.kubectl("create", "rolebinding", "rb", "--role=r", "--user=jane")
        await api.kubectl("create", "job", "j", "--image=demo", "--", "true")


async def test_kubectl_knows_who_it_is_and_what_it_may(tmp_path: Path) -> None:
    gate = Gate(denied_verbs=frozenset({"delete"}))
    async with plane(tmp_path, gate) as api:
        assert await api.kubectl("auth", "can-i", "get", "pods") == "yes\n"
        assert (await api.run("auth", "can-i", "delete", "pods")).out == "no - the gate is shut\n"
        assert "admin" in await api.kubectl("auth", "whoami")
        await api.kubectl("apply", "-f", "-", text=BOX_YAML)
        refused = await api.run("delete", "box", "b1")
        assert 'User "admin" cannot delete resource "boxes"' in refused.err


async def test_kubectl_watches_as_things_change(tmp_path: Path) -> None:
    async with plane(tmp_path) as api, asyncio.timeout(60):
        await api.kubectl("apply", "-f", "-", text=BOX_YAML)
        watching = await api.start("get", "box", "-w", "-o", "wide")
        assert watching.stdout is not None
        try:
            rows = [(await watching.stdout.readline()).split() for _ in range(2)]
            await api.kubectl("patch", "box", "b1", "--type=merge", "-p", '{"spec":{"size":8}}')
            rows.append((await watching.stdout.readline()).split())
        finally:
            watching.terminate()
            await watching.communicate()
    assert [row[:2] for row in rows] == [[b"NAME", b"SIZE"], [b"b1", b"3"], [b"b1", b"8"]]
