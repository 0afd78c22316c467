"""Where Prometheus is: the ConfigMap application-intelligence, watched, or flags, which win."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import structlog

from gputide.errors import SettingError
from gputide.kube.mirror import Mirror
from gputide.prometheus.client import Prometheus
from gputide.prometheus.settings import PrometheusSettings

log = structlog.stdlib.get_logger()

NAMESPACE, CONFIG_MAP = "kube-system", "application-intelligence"
URL_KEYS = ("prometheusUrl", "armsUrl")
TOKEN_KEY = "token"  # noqa: S105  the name of a key
UNUSED_KEYS = ("prometheus_writer_url", "prometheus_writer_ak", "prometheus_writer_sk")


@dataclass(frozen=True, slots=True)
class Address:
    """What the ConfigMap says; the token is a secret."""

    url: str = ""
    token: str = ""
    unused: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"Address(has_url={bool(self.url)}, has_token={bool(self.token)})"


def address_from(obj: Mapping[str, Any]) -> Address | None:
    """Return what the ConfigMap says; the current name of the URL wins over the old one."""
    data = obj.get("data") or {}
    url = next((str(data[key]).strip() for key in URL_KEYS if data.get(key)), "")
    unused = tuple(key for key in UNUSED_KEYS if data.get(key))
    return Address(url=url, token=str(data.get(TOKEN_KEY) or "").strip(), unused=unused)


class PrometheusChoice:
    """Follows the ConfigMap; hands a new client to whoever reads when the address changes."""

    def __init__(
        self,
        settings: PrometheusSettings | None,
        mirror: Mirror[Address] | None,
        use: Callable[[Prometheus | None, str], None],
        *,
        timeout_seconds: float = 30.0,
    ) -> None:
        self._settings = settings
        self._mirror = mirror
        self._use = use
        self._timeout_seconds = timeout_seconds
        self._present: Address | None = None
        self._client: Prometheus | None = None
        self.problem = ""
        """Why there is no Prometheus; empty when there is one."""

    async def start(self) -> None:
        """Use the flags' server, if they name one."""
        if self._settings is not None:
            await self._replace(self._settings)

    async def follow(self) -> None:
        """Take the ConfigMap's address until cancelled; nothing to do where flags name one."""
        if self._mirror is None or self._settings is not None:
            return
        while True:
            seen = self._mirror.changes
            await self.look()
            if self._mirror.changes == seen:  # else it changed while we looked
                await self._mirror.wait_changed()

    async def look(self) -> None:
        """Take the ConfigMap as it is now."""
        if self._mirror is None or self._settings is not None:
            return
        found = self._mirror.objects.get((NAMESPACE, CONFIG_MAP))
        if found == self._present and self._client is not None:
            return
        self._present = found
        if found is None or not found.url:
            what = "is not there" if found is None else "names no prometheusUrl or armsUrl"
            said = f"ConfigMap {NAMESPACE}/{CONFIG_MAP} {what}, and no flag names a Prometheus"
            await self._go_without(self._mirror.problem or said)
            return
        if found.unused:
            log.info("keys of the ConfigMap that have no use here", keys=found.unused)
        try:
            settings = PrometheusSettings(
                url=found.url,
                bearer_token=found.token or None,
                timeout_seconds=self._timeout_seconds,
            )
        except SettingError as error:
            await self._go_without(f"ConfigMap {NAMESPACE}/{CONFIG_MAP}: {error}")
            return
        await self._replace(settings)

    async def close(self) -> None:
        """Close the client."""
        await self._replace(None)

    async def _go_without(self, problem: str) -> None:
        if problem != self.problem:
            log.warning("there is no Prometheus", why=problem)
        self.problem = problem
        await self._replace(None)

    async def _replace(self, settings: PrometheusSettings | None) -> None:
        old, self._client = self._client, None
        if settings is not None:
            self._client = Prometheus(settings)
            self.problem = ""
            log.info("demand is read from", prometheus=self._client.target)
        self._use(self._client, self.problem)
        if old is not None:
            await old.close()
