"""Which pods and replicas belong to an autoscaler, and what keeps it from scaling. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gputide.autoscaler.cluster.wire import Declared, OtherScaler, SeenPod, Workload
from gputide.autoscaler.model import Key, Obstacle, Pod, Subject, Target
from gputide.scaling import TargetRef

ObjectKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The cluster at one moment."""

    declared: Mapping[ObjectKey, Declared]
    """Those that this controller decides for."""

    everyone: Mapping[ObjectKey, Declared]
    """All of them: whose a workload is, is judged over all shards."""

    workloads: Mapping[str, Mapping[ObjectKey, Workload]]
    """By kind."""

    pods: Mapping[ObjectKey, SeenPod]
    scalers: Mapping[ObjectKey, OtherScaler]
    problem: str = ""
    """Why none of it may be acted on."""

    other_targets: Mapping[Key, Target] = field(default_factory=dict)
    """Of kinds that are not watched, as their scale subresource says."""


class Owners:
    """Pods by the uid of what owns them, through replica sets."""

    def __init__(self, world: World) -> None:
        replica_sets = world.workloads.get("ReplicaSet", {})
        parents = {one.uid: one.owner_uid for one in replica_sets.values() if one.owner_uid}
        self._pods: dict[str, list[Pod]] = defaultdict(list)
        for seen in world.pods.values():
            if seen.owner_uid:
                self._pods[parents.get(seen.owner_uid, seen.owner_uid)].append(seen.pod)

    def of(self, uid: str) -> tuple[Pod, ...]:
        """Return the pods of a workload, by name."""
        return tuple(sorted(self._pods.get(uid, ()), key=lambda pod: pod.name))


def subjects_of(world: World) -> list[Subject]:
    """Return the readable autoscalers with their workloads, by name."""
    owners = Owners(world)
    firsts = first_claims(world.everyone.values())
    hpas = {
        (namespace, one.target_kind, one.target_name): one.name
        for (namespace, _), one in world.scalers.items()
    }
    made = []
    for _, declared in sorted(world.declared.items()):
        if declared.autoscaler is None or declared.autoscaler.target is None:
            continue
        key = Key(namespace=declared.namespace, name=declared.name)
        ref = declared.autoscaler.target
        target = _target(world, owners, key, ref)
        obstacle, text = _obstacle(
            world, declared, ref, firsts, hpas, has_target=target is not None
        )
        made.append(
            Subject(
                key=key,
                uid=declared.uid,
                autoscaler=declared.autoscaler,
                target=target,
                obstacle=obstacle,
                obstacle_text=text,
            )
        )
    return made


def _target(world: World, owners: Owners, key: Key, ref: TargetRef) -> Target | None:
    workload = world.workloads.get(ref.kind, {}).get((key.namespace, ref.name))
    if workload is None:
        return world.other_targets.get(key)
    return Target(
        replicas=workload.replicas, pods=owners.of(workload.uid), requests=workload.requests
    )


Claim = tuple[str, str, str]
"""Namespace, kind and name of a workload."""


def first_claims(declared: Iterable[Declared]) -> dict[Claim, str]:
    """Return which autoscaler has each workload: the oldest one, by name where they are as old."""
    firsts: dict[Claim, tuple[str, str]] = {}
    for one in declared:
        if one.autoscaler is None or one.autoscaler.target is None:
            continue
        claim = (one.namespace, one.autoscaler.target.kind, one.autoscaler.target.name)
        mine = (one.created, one.name)
        firsts[claim] = min(firsts.get(claim, mine), mine)
    return {claim: name for claim, (_, name) in firsts.items()}


def _obstacle(
    world: World,
    declared: Declared,
    ref: TargetRef,
    firsts: Mapping[Claim, str],
    hpas: Mapping[Claim, str],
    *,
    has_target: bool,
) -> tuple[Obstacle | None, str]:
    claim = (declared.namespace, ref.kind, ref.name)
    where = f"{ref.kind} {declared.namespace}/{ref.name}"
    if world.problem:
        return Obstacle.CACHE_NOT_READY, f"the cluster's state is not known: {world.problem}"
    if claim in hpas:
        text = f"HorizontalPodAutoscaler {hpas[claim]} scales {where} too: remove one of the two"
        return Obstacle.HPA_ON_TARGET, text
    if firsts.get(claim, declared.name) != declared.name:
        return Obstacle.SHARED_TARGET, f"{firsts[claim]} scales {where} already, and is older"
    if not has_target:
        is_watched = ref.kind in world.workloads
        kind = Obstacle.TARGET_MISSING if is_watched else Obstacle.TARGET_NOT_SCALABLE
        what = "is not there" if is_watched else "has no scale subresource that can be read"
        return kind, f"{where} {what}"
    return None, ""
