"""Which pods and replicas belong to an autoscaler, and what keeps it from scaling. Pure."""

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from gputide.autoscaler.cluster.wire import (
    Declared,
    OtherScaler,
    SeenPod,
    Workload,
    group_of,
    is_watched,
)
from gputide.autoscaler.model import Key, Obstacle, Pod, Subject, Target
from gputide.scaling import TargetRef

ObjectKey = tuple[str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hindrance:
    """What keeps an autoscaler from scaling, in words."""

    obstacle: Obstacle
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The cluster at one moment."""

    declared: Mapping[ObjectKey, Declared]
    """Those that this controller decides for."""

    everyone: Mapping[ObjectKey, Declared]
    """All of them: whose a workload is, is judged over all shards."""

    workloads: Mapping[str, Mapping[ObjectKey, Workload]]
    """By kind; all of group apps."""

    pods: Mapping[ObjectKey, SeenPod]
    scalers: Mapping[ObjectKey, OtherScaler]
    problem: str = ""
    """Why none of it may be acted on."""

    other_targets: Mapping[Key, Target | Hindrance] = field(default_factory=dict)
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
        (namespace, one.target_group, one.target_kind, one.target_name): one.name
        for (namespace, _), one in world.scalers.items()
    }
    made = []
    for _, declared in sorted(world.declared.items()):
        if declared.autoscaler is None or declared.autoscaler.target is None:
            continue
        key = Key(namespace=declared.namespace, name=declared.name)
        ref = declared.autoscaler.target
        target = _target(world, owners, key, ref)
        obstacle = _obstacle(world, declared, ref, firsts, hpas) or (
            target if isinstance(target, Hindrance) else None
        )
        made.append(
            Subject(
                key=key,
                uid=declared.uid,
                autoscaler=declared.autoscaler,
                target=None if isinstance(target, Hindrance) else target,
                obstacle=obstacle.obstacle if obstacle else None,
                obstacle_text=obstacle.text if obstacle else "",
            )
        )
    return made


def _target(world: World, owners: Owners, key: Key, ref: TargetRef) -> Target | Hindrance:
    where = f"{ref.kind} {key.namespace}/{ref.name}"
    if not is_watched(ref):
        text = f"{where} was not asked for yet"
        nothing = Hindrance(obstacle=Obstacle.CACHE_NOT_READY, text=text)
        return world.other_targets.get(key, nothing)
    workload = world.workloads.get(ref.kind, {}).get((key.namespace, ref.name))
    if workload is None:
        return Hindrance(obstacle=Obstacle.TARGET_MISSING, text=f"{where} is not there")
    return Target(
        replicas=workload.replicas, pods=owners.of(workload.uid), requests=workload.requests
    )


Claim = tuple[str, str, str, str]
"""Namespace, group, kind and name of a workload."""


def _claim(namespace: str, ref: TargetRef) -> Claim:
    return (namespace, group_of(ref.api_version), ref.kind, ref.name)


def first_claims(declared: Iterable[Declared]) -> dict[Claim, str]:
    """Return which autoscaler has each workload: the oldest one, by name where they are as old."""
    firsts: dict[Claim, tuple[str, str]] = {}
    for one in declared:
        if one.autoscaler is None or one.autoscaler.target is None:
            continue
        claim = _claim(one.namespace, one.autoscaler.target)
        mine = (one.created, one.name)
        firsts[claim] = min(firsts.get(claim, mine), mine)
    return {claim: name for claim, (_, name) in firsts.items()}


def _obstacle(
    world: World,
    declared: Declared,
    ref: TargetRef,
    firsts: Mapping[Claim, str],
    hpas: Mapping[Claim, str],
) -> Hindrance | None:
    claim = _claim(declared.namespace, ref)
    where = f"{ref.kind} {declared.namespace}/{ref.name}"
    if world.problem:
        text = f"the cluster's state is not known: {world.problem}"
        return Hindrance(obstacle=Obstacle.CACHE_NOT_READY, text=text)
    if claim in hpas:
        text = f"HorizontalPodAutoscaler {hpas[claim]} scales {where} too: remove one of the two"
        return Hindrance(obstacle=Obstacle.HPA_ON_TARGET, text=text)
    if firsts.get(claim, declared.name) != declared.name:
        text = f"{firsts[claim]} scales {where} already, and is older"
        return Hindrance(obstacle=Obstacle.SHARED_TARGET, text=text)
    return None
