"""Credentials of a kubeconfig's `exec` plugin: asked for when first needed, and after a refusal.

https://kubernetes.io/docs/reference/access-authn-authz/authentication/#client-go-credential-plugins
"""

import asyncio
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE
from collections.abc import AsyncGenerator, Mapping
from contextlib import suppress

import httpx2
import msgspec
from lightkube.config.models import UserExec
from lightkube.core.exceptions import ConfigError

_GROUP = "client.authentication.k8s.io"
VERSIONS = frozenset({f"{_GROUP}/v1", f"{_GROUP}/v1beta1", f"{_GROUP}/v1alpha1"})
MAX_WORDS = 300


class _Status(msgspec.Struct, frozen=True):
    token: str = ""


class _Credential(msgspec.Struct, frozen=True):
    status: _Status = _Status()


class PluginAuth(httpx2.Auth):
    """Bearer tokens of a plugin; however many requests wait for one, it is run once.

    Raises ConfigError where it gives none; client certificates of plugins are not taken.
    """

    def __init__(self, plugin: UserExec, environment: Mapping[str, str] = os.environ) -> None:
        self._plugin = plugin
        self._environment = environment
        self._lock = asyncio.Lock()
        self._token = ""

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        """Send the request with a token; where that is refused, once more with a new one."""
        token = await self._other_than("")
        request.headers["Authorization"] = f"Bearer {token}"
        answer = yield request
        if answer.status_code == httpx2.codes.UNAUTHORIZED:
            token = await self._other_than(token)
            request.headers["Authorization"] = f"Bearer {token}"
            yield request

    async def _other_than(self, refused: str) -> str:
        async with self._lock:
            if self._token == refused:
                self._token = ""  # a plugin that fails now must not leave the refused one behind
                self._token = await self._ask()
            return self._token

    async def _ask(self) -> str:
        plugin = self._plugin
        if plugin.apiVersion not in VERSIONS:
            raise ConfigError(f"plugin {plugin.command}: unknown apiVersion {plugin.apiVersion}")
        output = await self._run()
        try:
            token = msgspec.json.decode(output, type=_Credential).status.token
        except (msgspec.MsgspecError, UnicodeError, RecursionError):  # its words may hold a secret
            raise ConfigError(f"plugin {plugin.command} prints no ExecCredential") from None
        if not token or not token.isascii() or not token.isprintable():
            raise ConfigError(f"plugin {plugin.command} gives no bearer token")
        return token

    async def _run(self) -> bytes:
        plugin = self._plugin
        asked = {
            "apiVersion": plugin.apiVersion,
            "kind": "ExecCredential",
            "spec": {"interactive": False},
        }
        environment = {
            **self._environment,
            **{one.name: one.value for one in plugin.env or ()},
            "KUBERNETES_EXEC_INFO": msgspec.json.encode(asked).decode(),
        }
        process = await asyncio.create_subprocess_exec(
            plugin.command,
            *(plugin.args or ()),
            env=environment,
            stdin=DEVNULL,
            stdout=PIPE,
            stderr=PIPE,
            start_new_session=True,  # so that what it started ends with it
        )
        try:
            output, told = await process.communicate()
        finally:
            if process.returncode is None:  # whoever asked waits no more
                with suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                await process.wait()
        if process.returncode:
            words = " ".join(told.decode(errors="replace").split())[:MAX_WORDS]
            raise ConfigError(f"plugin {plugin.command} ends with {process.returncode}: {words}")
        return output
