"""Workloads of other kinds, read by their scale subresource; each asked for once a while."""

from dataclasses import dataclass, field

from gputide.autoscaler.cluster.wire import pod_from
from gputide.autoscaler.model import Key, Pod, Target
from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.errors import KubeError
from gputide.kube.model import PODS, JsonObject, ObjectList
from gputide.scaling import TargetRef

KEEP_SECONDS = 15.0
MAX_KEPT = 10_000


@dataclass(slots=True)
class Scales:
    """Scale subresources by autoscaler."""

    client: KubeClient
    clock: Clock
    _kept: dict[Key, tuple[float, TargetRef, Target | None]] = field(default_factory=dict)

    async def read(self, wanted: dict[Key, TargetRef]) -> dict[Key, Target]:
        """Return the targets that have a scale; those that have none are left out."""
        now_seconds = self.clock.monotonic_seconds()
        found: dict[Key, Target] = {}
        for key, ref in list(wanted.items())[:MAX_KEPT]:
            kept = self._kept.get(key)
            if kept is None or kept[1] != ref or now_seconds - kept[0] >= KEEP_SECONDS:
                kept = (now_seconds, ref, await self._ask(key, ref))
                self._kept[key] = kept
            if kept[2] is not None:
                found[key] = kept[2]
        for key in self._kept.keys() - wanted.keys():
            del self._kept[key]
        return found

    def forget(self, key: Key) -> None:
        """Ask anew next time: it was scaled."""
        self._kept.pop(key, None)

    async def _ask(self, key: Key, ref: TargetRef) -> Target | None:
        try:
            kind = await self.client.resource_for(ref.api_version, ref.kind)
            scale = await self.client.get(kind, key.namespace, ref.name, subresource="scale")
            selector = str((scale.get("status") or {}).get("selector") or "")
            pods: tuple[Pod, ...] = ()
            if selector:
                listed: ObjectList[JsonObject] = await self.client.list(
                    PODS, key.namespace, label_selector=selector
                )
                pods = _pods(listed.items)
        except KubeError:
            return None
        return Target(replicas=int((scale.get("spec") or {}).get("replicas") or 0), pods=pods)


def _pods(objects: tuple[object, ...]) -> tuple[Pod, ...]:
    seen = (pod_from(obj) for obj in objects if isinstance(obj, dict))
    return tuple(one.pod for one in seen if one is not None)
