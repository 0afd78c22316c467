"""As much of the Kubernetes API as listing and watching one node's pods needs, over real HTTP.

    async with kube_api(tmp_path) as api:
        api.put(pod("chat-0", labels={"app": "chat"}))
        OwnerSettings(node_name="gpu-1", kubeconfig=str(api.kubeconfig))
        api.put(...), api.remove("chat-0")     # watchers see it
        api.bookmark(), api.forget()           # forget: old versions are 410 Gone from now on
        api.refuse = 403

Lists come in pages of `page_size`. Watches that are open are in `api.watches`.
"""

import asyncio
import json
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

KUBECONFIG = """\
apiVersion: v1
kind: Config
current-context: test
clusters: [{{name: test, cluster: {{server: "{url}"}}}}]
users: [{{name: test, user: {{token: "{token}"}}}}]
contexts: [{{name: test, context: {{cluster: test, user: test}}}}]
"""
TOKEN = "token-of-the-test"


def pod(
    name: str,
    *,
    node: str = "gpu-1",
    namespace: str = "demo",
    uid: str = "",
    labels: dict[str, str] | None = None,
    annotations: dict[str, str] | None = None,
    containers: dict[str, dict[str, str]] | None = None,
    container_ids: dict[str, str] | None = None,
    phase: str = "Running",
    is_deleting: bool = False,
) -> dict[str, Any]:
    """Return a pod as the API has it; `containers` has limits by container name."""
    ids = container_ids or {}
    metadata: dict[str, Any] = {
        "name": name,
        "namespace": namespace,
        "uid": uid or f"uid-of-{name}",
        "labels": labels or {},
        "annotations": annotations or {},
    }
    if is_deleting:
        metadata["deletionTimestamp"] = "2026-03-01T00:00:00Z"
    return {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": metadata,
        "spec": {
            "nodeName": node,
            "containers": [
                {"name": each, "image": "demo", "resources": {"limits": limits}}
                for each, limits in (containers or {"main": {}}).items()
            ],
        },
        "status": {
            "phase": phase,
            "containerStatuses": [
                {"name": each, "containerID": ids[each], "ready": True, "restartCount": 0}
                for each in ids
            ],
        },
    }


@dataclass
class KubeApi:
    """A server that runs: its pods, its events, and what it was asked."""

    kubeconfig: Path
    url: str = ""
    page_size: int = 500
    refuse: int = 0
    raw: bytes | None = None
    """Sent instead of any answer's body."""

    version: int = 100
    oldest: int = 0
    pods: dict[tuple[str, str], dict[str, Any]] = field(default_factory=dict)
    events: list[tuple[int, dict[str, Any]]] = field(default_factory=list)
    requests: list[dict[str, str]] = field(default_factory=list)
    watches: set[asyncio.StreamWriter] = field(default_factory=set)
    changed: asyncio.Event = field(default_factory=asyncio.Event)

    def put(self, item: dict[str, Any]) -> None:
        """Add a pod, or change it."""
        key = (item["metadata"]["namespace"], item["metadata"]["name"])
        self._event("MODIFIED" if key in self.pods else "ADDED", item)
        self.pods[key] = item

    def remove(self, name: str, *, namespace: str = "demo") -> None:
        """Delete a pod."""
        self._event("DELETED", self.pods.pop((namespace, name)))

    def bookmark(self) -> None:
        """Tell watchers the newest version."""
        self._event("BOOKMARK", {"kind": "Pod", "apiVersion": "v1", "metadata": {}})

    def fail_watches(self, code: int, message: str) -> None:
        """Send an error event."""
        status = {"kind": "Status", "code": code, "message": message}
        self.events.append((self.version, {"type": "ERROR", "object": status}))
        self._wake()

    def forget(self) -> None:
        """Forget all versions up to now, as etcd does when it is compacted."""
        self.version += 1
        self.oldest = self.version

    def end_watches(self) -> None:
        """End the open watches in good order, as their time-out does."""
        for writer in self.watches:
            writer.write(b"0\r\n\r\n")
            writer.close()
        self.watches.clear()
        self._wake()

    def _event(self, kind: str, item: dict[str, Any]) -> None:
        self.version += 1
        item["metadata"]["resourceVersion"] = str(self.version)
        self.events.append((self.version, {"type": kind, "object": item}))
        self._wake()

    def _wake(self) -> None:
        self.changed.set()
        self.changed = asyncio.Event()

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection."""
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode()
                method, target, _ = head.split("\r\n", 1)[0].split(" ")
                parts = urlsplit(target)
                query = {name: values[0] for name, values in parse_qs(parts.query).items()}
                is_known = f"Authorization: Bearer {TOKEN}".lower() in head.lower()
                self.requests.append({"method": method, "path": parts.path, **query})
                if self.raw is not None:
                    _send(writer, 200, self.raw)
                elif not is_known or self.refuse:
                    code = self.refuse or 401
                    _send_json(writer, code, {"kind": "Status", "code": code, "message": "no"})
                elif parts.path != "/api/v1/pods":
                    _send_json(writer, 404, {"kind": "Status", "code": 404, "message": "no"})
                elif query.get("watch") == "true":
                    await self._watch(writer, query)
                    return
                else:
                    _send_json(writer, 200, self._page(query))
                await writer.drain()

    def _page(self, query: dict[str, str]) -> dict[str, Any]:
        node = query.get("fieldSelector", "").removeprefix("spec.nodeName=")
        mine = [each for each in self.pods.values() if each["spec"]["nodeName"] == node]
        start = int(query.get("continue", "0"))
        size = min(self.page_size, int(query.get("limit", "500")))
        metadata = {"resourceVersion": str(self.version)}
        if start + size < len(mine):
            metadata["continue"] = str(start + size)
        items = mine[start : start + size]
        return {"kind": "PodList", "apiVersion": "v1", "metadata": metadata, "items": items}

    async def _watch(self, writer: asyncio.StreamWriter, query: dict[str, str]) -> None:
        since = int(query.get("resourceVersion", "0"))
        if since < self.oldest:
            gone = {"kind": "Status", "code": 410, "message": "too old resource version"}
            body = json.dumps({"type": "ERROR", "object": gone}).encode() + b"\n"
            _send(writer, 200, body)
            await writer.drain()
            writer.close()
            return
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        writer.write(b"Transfer-Encoding: chunked\r\n\r\n")
        self.watches.add(writer)
        self._wake()
        next_event = sum(version <= since for version, _ in self.events)
        with suppress(ConnectionError):
            while writer in self.watches and not writer.is_closing():
                changed = self.changed
                for _, event in self.events[next_event:]:
                    line = json.dumps(event).encode() + b"\n"
                    writer.write(f"{len(line):x}\r\n".encode() + line + b"\r\n")
                next_event = len(self.events)
                await writer.drain()
                await changed.wait()


def _send_json(writer: asyncio.StreamWriter, code: int, body: dict[str, Any]) -> None:
    _send(writer, code, json.dumps(body).encode())


def _send(writer: asyncio.StreamWriter, code: int, body: bytes) -> None:
    head = f"HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nContent-Length: {len(body)}"
    writer.write(head.encode() + b"\r\n\r\n" + body)


@asynccontextmanager
async def kube_api(folder: Path, *, tls: ssl.SSLContext | None = None) -> AsyncIterator[KubeApi]:
    """Serve while the block runs; `kubeconfig` in the folder leads to it."""
    api = KubeApi(folder / "kubeconfig")
    tasks: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            with suppress(asyncio.CancelledError):  # at the end of the test
                await api.serve(reader, writer)
        finally:
            tasks.discard(task)
            writer.close()

    server = await asyncio.start_server(serve, "127.0.0.1", 0, ssl=tls)
    scheme = "https" if tls else "http"
    api.url = f"{scheme}://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    api.kubeconfig.write_text(KUBECONFIG.format(url=api.url, token=TOKEN))
    try:
        yield api
    finally:
        server.close()
        api.end_watches()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
