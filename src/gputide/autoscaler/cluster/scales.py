"""Workloads of other kinds, read by their scale subresource; each asked for once a while."""

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field

from gputide.autoscaler.cluster.targets import Hindrance
from gputide.autoscaler.cluster.wire import pod_from, requests_of
from gputide.autoscaler.model import Key, Obstacle, Target
from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.errors import KubeError, NotFoundError
from gputide.kube.model import PODS, JsonObject, ObjectList, ResourceType
from gputide.scaling import TargetRef

KEEP_SECONDS = 15.0
MAX_KEPT = 10_000
ASKED_AT_A_TIME = 16
DEADLINE_SECONDS = 10.0
"""Of all questions of a round together: a slow server must not hold up the others' round."""

Found = Target | Hindrance


@dataclass(frozen=True, slots=True)
class _Kept:
    at_seconds: float
    ref: TargetRef
    found: Found


@dataclass(slots=True)
class Scales:
    """Scale subresources by autoscaler."""

    client: KubeClient
    clock: Clock
    _kept: dict[Key, _Kept] = field(default_factory=dict)

    async def read(self, wanted: Mapping[Key, TargetRef]) -> Mapping[Key, Found]:
        """Return each target, or why it is not known; never raises for a server that fails."""
        now_seconds = self.clock.monotonic_seconds()
        for key in self._kept.keys() - wanted.keys():
            del self._kept[key]
        asked = [
            (key, ref)
            for key, ref in list(wanted.items())[:MAX_KEPT]
            if not self._is_fresh(key, ref, now_seconds)
        ]
        slots = asyncio.Semaphore(ASKED_AT_A_TIME)

        async def ask(key: Key, ref: TargetRef) -> None:
            async with slots:
                self._kept[key] = _Kept(now_seconds, ref, await self._ask(key, ref))

        for key, _ in asked:  # an old answer is none
            self._kept.pop(key, None)
        try:
            async with asyncio.timeout(DEADLINE_SECONDS):
                await asyncio.gather(*(ask(*one) for one in asked))
        except TimeoutError:
            for key, ref in asked:
                text = f"{ref.kind} {key.namespace}/{ref.name}: the server answers too slowly"
                self._kept.setdefault(key, _Kept(-KEEP_SECONDS, ref, _unknown(text)))
        return {key: one.found for key, one in self._kept.items()}

    def forget(self, key: Key) -> None:
        """Ask anew next time: it was scaled."""
        self._kept.pop(key, None)

    def _is_fresh(self, key: Key, ref: TargetRef, now_seconds: float) -> bool:
        kept = self._kept.get(key)
        return kept is not None and kept.ref == ref and now_seconds - kept.at_seconds < KEEP_SECONDS

    async def _ask(self, key: Key, ref: TargetRef) -> Found:
        where = f"{ref.kind} {key.namespace}/{ref.name}"
        try:
            kind = await self.client.resource_for(ref.api_version, ref.kind)
        except NotFoundError:
            text = f"the server knows no {ref.kind} of {ref.api_version}"
            return Hindrance(obstacle=Obstacle.TARGET_NOT_SCALABLE, text=text)
        except KubeError as error:
            return _unknown(str(error))
        try:
            return await self._target(kind, key, ref)
        except NotFoundError as error:
            is_missing = f'"{ref.name}"' in error.problem  # else the server has no such path at all
            obstacle = Obstacle.TARGET_MISSING if is_missing else Obstacle.TARGET_NOT_SCALABLE
            what = "is not there" if is_missing else "has no scale subresource"
            return Hindrance(obstacle=obstacle, text=f"{where} {what}")
        except KubeError as error:
            return _unknown(str(error))

    async def _target(self, kind: ResourceType, key: Key, ref: TargetRef) -> Target:
        scale = await self.client.get(kind, key.namespace, ref.name, subresource="scale")
        replicas = int((scale.get("spec") or {}).get("replicas") or 0)
        selector = str((scale.get("status") or {}).get("selector") or "")
        if not selector:
            return Target(replicas=replicas)
        listed: ObjectList[JsonObject] = await self.client.list(
            PODS, key.namespace, label_selector=selector
        )
        seen = [(one, pod) for pod in listed.items if (one := pod_from(pod)) is not None]
        return Target(
            replicas=replicas,
            pods=tuple(sorted((one.pod for one, _ in seen), key=lambda pod: pod.name)),
            requests=requests_of(seen[0][1].get("spec") or {}) if seen else {},
        )


def _unknown(text: str) -> Hindrance:
    return Hindrance(obstacle=Obstacle.CACHE_NOT_READY, text=text)
