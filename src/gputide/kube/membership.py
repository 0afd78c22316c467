"""Which replicas are there, and who of them owns what: a Lease each, and rendezvous hashing.

No two replicas may write for one key at the same time, though each sees the others late. Three
rules make that so, each by the replica's own clock:

- it writes only while its own lease was renewed, and the others looked at, within `renew_seconds`;
- it writes only once it was a member for `duration_seconds` without a lapse: by then nobody acts on
  a view from before it came;
- another counts as gone when it said so, or when its lease did not change for `duration_seconds`:
  it stopped writing before. A lease that vanished is waited out just so.
"""

import asyncio
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import blake2b

import structlog

from gputide.clock import Clock, utc_from_unix
from gputide.kube.client import KubeClient
from gputide.kube.errors import KubeError, NotFoundError
from gputide.kube.model import LEASES, JsonObject, ObjectList
from gputide.kube.retry import system_random

log = structlog.stdlib.get_logger()

LABEL = "gputide.dev/members"
FORGET_DURATIONS = 20
"""After so many durations without a change, a lease is deleted: its replica will not come back."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MembershipTerms:
    """A group of replicas, and its times."""

    namespace: str
    group: str
    identity: str
    duration_seconds: float = 15.0
    renew_seconds: float = 10.0
    retry_seconds: float = 2.0

    @property
    def lease_name(self) -> str:
        """The name of this replica's Lease."""
        return re.sub(r"[^a-z0-9.-]+", "-", f"{self.group}-{self.identity}".lower()).strip("-.")


@dataclass(frozen=True, slots=True)
class _Seen:
    """A lease as last seen to change."""

    holder: str
    renewed: str
    at_seconds: float


def owner_of(key: str, members: Iterable[str]) -> str:
    """Return whose a key is; when a member comes or goes, no key moves between the others."""
    return max(members, key=lambda member: (_score(member, key), member), default="")


def _score(member: str, key: str) -> bytes:
    return blake2b(f"{member}\0{key}".encode(), digest_size=8).digest()


class Membership:
    """One replica of a group; several share the keys."""

    def __init__(
        self,
        client: KubeClient,
        terms: MembershipTerms,
        clock: Clock,
        *,
        random: Callable[[], float] = system_random,
    ) -> None:
        self._client = client
        self._terms = terms
        self._clock = clock
        self._random = random
        self._seen: dict[str, _Seen] = {}
        """By name of the lease."""

        self._renewed_at_seconds: float | None = None
        self._joined_at_seconds = 0.0
        self._viewed_at_seconds: float | None = None
        self._has_seen = asyncio.Event()
        self.members: tuple[str, ...] = ()
        """Who shares the keys, as last seen, this one included; empty before the first look."""

    @property
    def may_write(self) -> bool:
        """Whether this one may act on what is its own: nobody else can think it theirs."""
        if self._renewed_at_seconds is None or self._viewed_at_seconds is None:
            return False
        now_seconds = self._clock.monotonic_seconds()
        oldest = min(self._renewed_at_seconds, self._viewed_at_seconds)
        is_current = now_seconds - oldest < self._terms.renew_seconds
        return is_current and now_seconds - self._joined_at_seconds >= self._terms.duration_seconds

    async def wait_seen(self) -> None:
        """Wait until the others were looked at once."""
        await self._has_seen.wait()

    def is_mine(self, key: str) -> bool:
        """Whether a key falls to this one by what it saw last, were it free to write or not."""
        return owner_of(key, self.members) == self._terms.identity

    async def run(self) -> None:
        """Take part until cancelled; then say so, so that the others need not wait."""
        try:
            while True:
                await self.attempt()
                await self._clock.sleep(self._terms.retry_seconds * (1 + 0.2 * self._random()))
        finally:
            await self.leave()

    async def attempt(self) -> None:
        """Renew and look, once; failures are logged."""
        try:
            await self._renew()
            await self._look()
        except KubeError as error:
            log.warning("membership not renewed", group=self._terms.group, error=str(error))

    async def leave(self) -> None:
        """Say that this one is gone; never raises."""
        if self._renewed_at_seconds is None:
            return
        self._renewed_at_seconds = None
        terms = self._terms
        try:
            gone = {"spec": {"holderIdentity": ""}}
            await self._client.patch(LEASES, terms.namespace, terms.lease_name, gone)
        except KubeError as error:
            log.info("could not say goodbye", lease=terms.lease_name, error=str(error))

    async def _renew(self) -> None:
        terms = self._terms
        before = self._clock.monotonic_seconds()
        is_new = False
        try:
            await self._client.patch(LEASES, terms.namespace, terms.lease_name, self._lease())
        except NotFoundError:
            is_new = True
            await self._client.create(LEASES, terms.namespace, self._lease())
        now_seconds = self._clock.monotonic_seconds()
        last = self._renewed_at_seconds
        if is_new or last is None or now_seconds - last >= terms.renew_seconds:
            self._joined_at_seconds = now_seconds
            log.info("joined", group=terms.group, identity=terms.identity)
        self._renewed_at_seconds = before

    async def _look(self) -> None:
        terms = self._terms
        before = self._clock.monotonic_seconds()
        selector = f"{LABEL}={terms.group}"
        listed: ObjectList[JsonObject] = await self._client.list(
            LEASES, terms.namespace, label_selector=selector
        )
        now_seconds = self._clock.monotonic_seconds()
        for lease in listed.items:
            self._note(lease, now_seconds)
        live = {terms.identity}
        for name, seen in list(self._seen.items()):
            # from before the question to after the answer: no renewal between was overlooked
            age_seconds = before - seen.at_seconds
            if seen.holder and age_seconds < terms.duration_seconds:
                live.add(seen.holder)
            if age_seconds > terms.duration_seconds * FORGET_DURATIONS:
                del self._seen[name]
                await self._delete(name)
        members = tuple(sorted(live))
        if members != self.members:
            log.info("members", group=terms.group, members=",".join(members))
        self.members = members
        self._viewed_at_seconds = before
        self._has_seen.set()

    def _note(self, lease: JsonObject, now_seconds: float) -> None:
        spec = lease.get("spec") or {}
        name = str(lease["metadata"].get("name"))
        holder, renewed = str(spec.get("holderIdentity") or ""), str(spec.get("renewTime"))
        seen = self._seen.get(name)
        if seen is None or (seen.holder, seen.renewed) != (holder, renewed):
            self._seen[name] = _Seen(holder, renewed, now_seconds)

    async def _delete(self, name: str) -> None:
        try:
            await self._client.delete(LEASES, self._terms.namespace, name)
        except KubeError as error:
            log.info("old lease not deleted", lease=name, error=str(error))

    def _lease(self) -> JsonObject:
        terms = self._terms
        now = utc_from_unix(self._clock.now_seconds()).strftime("%Y-%m-%dT%H:%M:%S.%fZ")
        return {
            "metadata": {
                "name": terms.lease_name,
                "namespace": terms.namespace,
                "labels": {LABEL: terms.group},
            },
            "spec": {
                "holderIdentity": terms.identity,
                "leaseDurationSeconds": int(terms.duration_seconds),
                "renewTime": now,
            },
        }
