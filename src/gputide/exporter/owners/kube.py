"""Pods of the node by the Kubernetes API: listed once, then watched.

A watch resumes where it ended; where the API has forgotten that moment (410), the pods are listed
anew. While the API cannot be asked, the reason is told and asking goes on, ever more slowly.
"""

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any
from zlib import crc32

import httpx2
import msgspec
import yaml
from lightkube.config.client_adapter import ConnectionParams
from lightkube.config.kubeconfig import KubeConfig
from lightkube.core.exceptions import ConfigError
from lightkube.core.generic_client import GenericAsyncClient
from lightkube.core.resource import ApiInfo, NamespacedResourceG, ResourceDef

from gputide.clock import Clock
from gputide.exporter.owners.kube_wire import Metadata, Spec, Status, pod_from
from gputide.exporter.owners.model import Pod
from gputide.exporter.owners.ports import OwnerSourceError
from gputide.exporter.owners.settings import OwnerSettings

MAX_PODS = 5000
MAX_LINE_BYTES = 4 * 1024 * 1024
WATCH_SECONDS = 120
"""After which the server ends a watch: as long can a connection that broke silently deceive us."""

_PAGE_PODS = 500
_PAUSES_SECONDS = (1, 2, 5, 10, 20, 30)
_SOURCE = "Kubernetes API"
_RIGHTS = "give its service account the verbs list and watch on pods"
_PodKey = tuple[str, str]
_UNUSABLE = (
    *(OSError, yaml.YAMLError, msgspec.MsgspecError, httpx2.InvalidURL),
    # What lightkube meets in a file that is YAML and yet no kubeconfig.
    *(AttributeError, AssertionError, KeyError, TypeError, ValueError),
)


class PodObject(NamespacedResourceG, msgspec.Struct):
    """A pod, of which only what we need is decoded; the full model is 20 times as large."""

    _api_info = ApiInfo(
        resource=ResourceDef("", "v1", "Pod"), plural="pods", verbs=["global_list", "global_watch"]
    )
    metadata: Metadata = Metadata()
    spec: Spec = Spec()
    status: Status = Status()


class _Event(msgspec.Struct, frozen=True):
    type: str
    object: msgspec.Raw


class _ApiStatus(msgspec.Struct, frozen=True):
    code: int = 0
    message: str = ""


class _ApiError(Exception):
    """The API cannot be asked; says why."""


class _ExpiredError(Exception):
    """The API has forgotten the version from which we would go on."""


class NodePods:
    """A PodDirectory that is kept up to date from the first question until it is closed."""

    def __init__(self, settings: OwnerSettings, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._pods: dict[_PodKey, Pod] = {}
        self._problem = ""
        self._version: str | None = None
        self._has_settled = asyncio.Event()
        self._watching: asyncio.Task[None] | None = None
        self.lists_total = 0

    async def pods(self) -> Mapping[_PodKey, Pod]:
        """Return the pods on this node now; raise OwnerSourceError where they cannot be had."""
        if self._watching is None:
            # No TaskGroup: whoever asks first may end before the watch shall.
            self._watching = asyncio.create_task(self._run(), name="gputide-pods")
        await self._has_settled.wait()
        if self._watching.done():
            self._watching.result()  # raises: it ends by a bug only
        if self._problem:
            raise OwnerSourceError(_SOURCE, self._problem)
        return dict(self._pods)

    async def close(self) -> None:
        """End the watch."""
        if self._watching is not None:
            self._watching.cancel()
            await asyncio.gather(self._watching, return_exceptions=True)

    async def _run(self) -> None:
        """List and watch until cancelled."""
        try:
            await self._list_and_watch()
        finally:
            self._has_settled.set()

    async def _list_and_watch(self) -> None:
        failures = 0
        while True:
            try:
                async with _client(self._settings) as client:
                    async for _ in self._follow(client):
                        failures = 0
            except _ApiError as error:
                self._problem = str(error)
                self._has_settled.set()
            pause = _PAUSES_SECONDS[min(failures, len(_PAUSES_SECONDS) - 1)]
            failures += 1
            await self._clock.sleep(pause * self._jitter())

    async def _follow(self, client: GenericAsyncClient) -> AsyncIterator[None]:
        """List and watch; yield after each success. Ends by _ApiError only."""
        self._version = "0"  # whatever the API server has in its cache
        while True:
            await self._list(client)
            yield
            try:
                while True:
                    async for _ in self._watch(client):
                        yield
                    # A server that ends every watch at once must not make us spin.
                    await self._clock.sleep(_PAUSES_SECONDS[0] * self._jitter())
            except _ExpiredError:
                self._version = None

    async def _list(self, client: GenericAsyncClient) -> None:
        request = self._request(client, {"limit": _PAGE_PODS})
        pods: dict[_PodKey, Pod] = {}
        try:
            async for version, page in client.list_chunks(request):
                self._version = version
                for each in page:
                    self._put(pods, each)
        except httpx2.HTTPError as error:
            raise _ApiError(_words(error)) from error
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise _ApiError(f"answers with no list of pods: {error}") from error
        self._pods, self._problem = pods, ""
        self.lists_total += 1
        self._has_settled.set()

    async def _watch(self, client: GenericAsyncClient) -> AsyncIterator[None]:
        """Take one watch's events; yield after each."""
        params = {"allowWatchBookmarks": "true", "timeoutSeconds": WATCH_SECONDS}
        request = self._request(client, params, is_watch=True)
        deadline = self._settings.deadline_seconds
        request.timeout = httpx2.Timeout(deadline, read=WATCH_SECONDS + deadline)
        try:
            question = client.build_adapter_request(request)
            response = await client.send(question, stream=True)  # type: ignore[no-untyped-call]  # lightkube
            try:
                if response.status_code == httpx2.codes.GONE:
                    raise _ExpiredError
                response.raise_for_status()
                async for line in _lines(response):
                    self._version = self._take(line) or self._version
                    yield
            finally:
                await response.aclose()
        except httpx2.RemoteProtocolError:
            return  # the connection ended within an answer: go on from the last version
        except httpx2.HTTPError as error:
            raise _ApiError(_words(error)) from error
        except (msgspec.MsgspecError, UnicodeError) as error:
            raise _ApiError(f"sends no watch events: {error}") from error

    def _take(self, line: bytes) -> str | None:
        """Take an event; return the version it brings us to."""
        event = msgspec.json.decode(line, type=_Event)
        if event.type == "ERROR":
            status = msgspec.json.decode(event.object, type=_ApiStatus)
            if status.code == httpx2.codes.GONE:
                raise _ExpiredError
            raise _ApiError(f"ended the watch: {status.message or status.code}")
        pod = msgspec.json.decode(event.object, type=PodObject)
        if event.type == "DELETED":
            self._pods.pop((pod.metadata.namespace, pod.metadata.name), None)
        elif event.type in {"ADDED", "MODIFIED"}:
            self._put(self._pods, pod)
        return pod.metadata.resource_version  # a bookmark brings nothing else

    def _put(self, pods: dict[_PodKey, Pod], pod: PodObject) -> None:
        key = (pod.metadata.namespace, pod.metadata.name)
        if key not in pods and len(pods) >= MAX_PODS:
            raise _ApiError(f"shows more than {MAX_PODS} pods for one node")
        pods[key] = pod_from(pod.metadata, pod.spec, pod.status, self._settings)

    def _request(
        self, client: GenericAsyncClient, params: dict[str, Any], *, is_watch: bool = False
    ) -> Any:  # noqa: ANN401 lightkube's request has no types
        selector = f"spec.nodeName={self._settings.node_name}"
        return client.prepare_request(
            "list",
            res=PodObject,
            namespace="*",
            watch=is_watch,
            params={"fieldSelector": selector, "resourceVersion": self._version, **params},
        )

    def _jitter(self) -> float:
        """Return 0.5 to 1.5, another for each node: a fleet must not come back all at once."""
        return 0.5 + crc32(self._settings.node_name.encode()) % 1000 / 1000


@asynccontextmanager
async def _client(settings: OwnerSettings) -> AsyncIterator[GenericAsyncClient]:
    """Open a client anew: a token or an authority may have been renewed."""
    if not settings.node_name:
        raise _ApiError("the node's name is not known; set NODE_NAME from spec.nodeName")
    try:
        if settings.kubeconfig:
            config = KubeConfig.from_file(settings.kubeconfig)
        else:
            config = KubeConfig.from_env()
        timeout = httpx2.Timeout(settings.deadline_seconds)
        client = GenericAsyncClient(ConnectionParams(timeout=timeout), config)
    except ConfigError as error:
        raise _ApiError(
            f"is not configured: no service account token is mounted, and {error}"
        ) from error
    except _UNUSABLE as error:
        raise _ApiError(f"its configuration cannot be used: {_detail(error)}") from error
    try:
        yield client
    except ConfigError as error:
        raise _ApiError(str(error)) from error
    finally:
        await client.close()  # type: ignore[no-untyped-call]  # lightkube


async def _lines(response: httpx2.Response) -> AsyncIterator[bytes]:
    buffer = b""
    async for chunk in response.aiter_bytes():
        *lines, buffer = (buffer + chunk).split(b"\n")
        for line in lines:
            if line.strip():
                yield line
        if len(buffer) > MAX_LINE_BYTES:
            raise _ApiError(f"sends a watch event of more than {MAX_LINE_BYTES} bytes")


def _words(error: httpx2.HTTPError) -> str:
    if isinstance(error, httpx2.HTTPStatusError):
        code = error.response.status_code
        if code == httpx2.codes.FORBIDDEN:
            return f"may not read pods (403); {_RIGHTS}"
        if code == httpx2.codes.UNAUTHORIZED:
            return "does not know us (401); the token may have expired"
        return f"answered {code}"
    if isinstance(error, httpx2.TimeoutException):
        return "does not answer in time"
    return f"cannot be reached: {_detail(error)}"


def _detail(error: BaseException) -> str:
    if isinstance(error, ssl.SSLError):
        return error.reason or str(error)
    return str(error) or type(error).__name__
