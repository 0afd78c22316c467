"""Leader election by a Lease, as client-go does it: who renews it leads, others wait their turn.

Expiry is judged by this machine's own clock, from when the lease was last seen to change: clocks of
other machines do not matter.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import structlog

from gputide.clock import Clock, utc_from_unix
from gputide.kube.client import KubeClient
from gputide.kube.errors import ConflictError, KubeError, NotFoundError
from gputide.kube.model import LEASES, JsonObject
from gputide.kube.retry import system_random

log = structlog.stdlib.get_logger()


@dataclass(frozen=True, slots=True, kw_only=True)
class LeaseTerms:
    """Times of an election, client-go's defaults."""

    namespace: str
    name: str
    identity: str
    duration_seconds: float = 15.0
    renew_seconds: float = 10.0
    """A leader that could not renew for so long steps down: before the others step up."""

    retry_seconds: float = 2.0
    is_shared: bool = False
    """Whether others hold it under this identity, too; then none of them gives it back."""


class Election:
    """Takes part in one election; `is_leader` says how it stands."""

    def __init__(
        self,
        client: KubeClient,
        terms: LeaseTerms,
        clock: Clock,
        *,
        random: Callable[[], float] = system_random,
    ) -> None:
        self._client = client
        self._terms = terms
        self._clock = clock
        self._random = random
        self._seen: tuple[str, str] | None = None
        """Holder and renew time as last seen."""

        self._seen_at_seconds = 0.0
        self._renewed_at_seconds: float | None = None
        self.holder = ""
        self.changes = 0

    @property
    def is_leader(self) -> bool:
        """Whether this one leads: it renewed recently enough that nobody else can."""
        if self._renewed_at_seconds is None:
            return False
        since = self._clock.monotonic_seconds() - self._renewed_at_seconds
        return since < self._terms.renew_seconds

    async def run(self) -> None:
        """Take part until cancelled; then give the lease back, so that another need not wait."""
        try:
            while True:
                was_leader = self.is_leader
                await self.attempt()
                if self.is_leader != was_leader:
                    self.changes += 1
                    log.info("leads" if self.is_leader else "leads no more", lease=self._terms.name)
                await self._clock.sleep(self._terms.retry_seconds * (1 + 0.2 * self._random()))
        finally:
            await self.release()

    async def attempt(self) -> None:
        """Try to take or renew the lease, once; failures are logged."""
        terms = self._terms
        before = self._clock.monotonic_seconds()
        try:
            try:
                lease = await self._client.get(LEASES, terms.namespace, terms.name)
            except NotFoundError:
                await self._client.create(LEASES, terms.namespace, self._lease(None))
                self._renewed_at_seconds, self.holder = before, terms.identity
                return
            if not self._may_take(lease):
                self._renewed_at_seconds = None
                return
            await self._client.replace(LEASES, terms.namespace, terms.name, self._lease(lease))
            # from before the request: the server may have taken it at once, and answered late
            self._renewed_at_seconds, self.holder = before, terms.identity
        except ConflictError:
            self._renewed_at_seconds = (
                None if self.holder != terms.identity else (self._renewed_at_seconds)
            )
        except KubeError as error:
            log.warning("lease not renewed", lease=terms.name, error=str(error))

    async def release(self) -> None:
        """Give the lease back, if it is ours; never raises."""
        if self._renewed_at_seconds is None:
            return
        self._renewed_at_seconds = None
        terms = self._terms
        if terms.is_shared:
            return
        try:
            lease = await self._client.get(LEASES, terms.namespace, terms.name)
            spec = lease.get("spec") or {}
            if spec.get("holderIdentity") == terms.identity:
                lease["spec"] = {**spec, "holderIdentity": "", "leaseDurationSeconds": 1}
                await self._client.replace(LEASES, terms.namespace, terms.name, lease)
        except KubeError as error:
            log.info("lease not given back", lease=terms.name, error=str(error))

    def _may_take(self, lease: JsonObject) -> bool:
        spec = lease.get("spec") or {}
        self.holder = str(spec.get("holderIdentity") or "")
        seen = (self.holder, str(spec.get("renewTime") or ""))
        now_seconds = self._clock.monotonic_seconds()
        if seen != self._seen:
            self._seen, self._seen_at_seconds = seen, now_seconds
        if self.holder in ("", self._terms.identity):
            return True
        told = spec.get("leaseDurationSeconds")
        duration = float(told) if isinstance(told, int) else self._terms.duration_seconds
        return now_seconds - self._seen_at_seconds >= duration

    def _lease(self, before: JsonObject | None) -> JsonObject:
        terms = self._terms
        now = utc_from_unix(self._clock.now_seconds()).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        spec: dict[str, Any] = dict((before or {}).get("spec") or {})
        if spec.get("holderIdentity") != terms.identity:
            is_first = before is None
            spec["acquireTime"] = now
            spec["leaseTransitions"] = 0 if is_first else int(spec.get("leaseTransitions") or 0) + 1
        spec |= {
            "holderIdentity": terms.identity,
            "leaseDurationSeconds": int(terms.duration_seconds),
            "renewTime": now,
        }
        metadata = (before or {}).get("metadata") or {
            "name": terms.name,
            "namespace": terms.namespace,
        }
        return {
            "apiVersion": "coordination.k8s.io/v1",
            "kind": "Lease",
            "metadata": metadata,
            "spec": spec,
        }
