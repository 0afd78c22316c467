from dataclasses import replace
from typing import Any

from fakes.autoscalers import autoscaler_object
from gputide.autoscaler.cluster.targets import Hindrance, World, subjects_of
from gputide.autoscaler.cluster.wire import (
    Declared,
    OtherScaler,
    SeenPod,
    Workload,
    declared_from,
)
from gputide.autoscaler.model import Key, Obstacle, Pod, Target


def declared(name: str, *, created: str = "2026-01-01T00:00:00Z", **spec: object) -> Declared:
    obj = autoscaler_object(name, **spec)
    obj["metadata"]["creationTimestamp"] = created
    return declared_from(obj, default_time_zone="UTC")


def world(*autoscalers: Declared, **more: Any) -> World:  # noqa: ANN401  fields of World
    named = {(one.namespace, one.name): one for one in autoscalers}
    base = World(
        declared=named,
        everyone=named,
        workloads={
            "Deployment": {("default", "web"): Workload("d1", 3, {}, {"cpu": 1.0})},
            "StatefulSet": {},
            "ReplicaSet": {("default", "web-1"): Workload("r1", 3, {}, {}, owner_uid="d1")},
        },
        pods={
            ("default", f"web-1-{n}"): SeenPod(Pod(name=f"web-1-{n}", is_ready=True), "r1")
            for n in (1, 0)
        }
        | {("default", "other"): SeenPod(Pod(name="other", is_ready=True), "r9")},
        scalers={},
    )
    return replace(base, **more)


def test_pods_are_found_through_replica_sets() -> None:
    [found] = subjects_of(world(declared("web")))
    assert found.obstacle is None
    assert found.target is not None
    assert (found.target.replicas, found.target.requests) == (3, {"cpu": 1.0})
    assert [pod.name for pod in found.target.pods] == ["web-1-0", "web-1-1"]


def test_a_missing_workload_is_an_obstacle() -> None:
    [found] = subjects_of(world(declared("api")))
    assert (found.target, found.obstacle) == (None, Obstacle.TARGET_MISSING)
    assert found.obstacle_text == "Deployment default/api is not there"


def test_an_hpa_on_the_same_workload_is_an_obstacle() -> None:
    scalers = {("default", "h"): OtherScaler("h", "apps", "Deployment", "web")}
    [found] = subjects_of(world(declared("web"), scalers=scalers))
    assert found.obstacle is Obstacle.HPA_ON_TARGET
    assert found.obstacle_text.startswith("HorizontalPodAutoscaler h scales Deployment default/web")


def test_of_two_autoscalers_on_one_workload_the_older_has_it() -> None:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    old = declared("z", scaleTargetRef=ref)
    young = declared("a", created="2026-02-01T00:00:00Z", scaleTargetRef=ref)
    found = {one.key.name: one.obstacle for one in subjects_of(world(old, young))}
    assert found == {"z": None, "a": Obstacle.SHARED_TARGET}


def test_whose_a_workload_is_is_judged_over_all_shards() -> None:
    ref = {"apiVersion": "apps/v1", "kind": "Deployment", "name": "web"}
    old = declared("z", scaleTargetRef=ref)
    young = declared("a", created="2026-02-01T00:00:00Z", scaleTargetRef=ref)
    both = world(old, young)
    mine = replace(both, declared={("default", "a"): young})
    [found] = subjects_of(mine)
    assert found.obstacle is Obstacle.SHARED_TARGET


def test_a_cluster_that_is_not_known_is_not_acted_on() -> None:
    [found] = subjects_of(world(declared("web"), problem="pods were not listed yet"))
    assert found.obstacle is Obstacle.CACHE_NOT_READY


def test_another_kind_is_taken_by_its_scale_subresource_or_refused() -> None:
    ref = {"apiVersion": "x.io/v1", "kind": "Rollout", "name": "web"}
    one = declared("web", scaleTargetRef=ref)
    [found] = subjects_of(world(one))
    assert found.obstacle is Obstacle.CACHE_NOT_READY
    other = {Key(namespace="default", name="web"): Target(replicas=2)}
    [found] = subjects_of(world(one, other_targets=other))
    assert (found.obstacle, found.target) == (None, Target(replicas=2))


def test_a_resource_that_cannot_be_read_is_no_subject() -> None:
    assert subjects_of(world(declared("web", maxReplicas="many"))) == []


KRUISE = {"apiVersion": "apps.kruise.io/v1beta1", "kind": "Deployment", "name": "web"}


def test_a_kind_of_the_same_name_in_another_group_is_another_one() -> None:
    [found] = subjects_of(world(declared("web", scaleTargetRef=KRUISE)))
    assert (found.target, found.obstacle) == (None, Obstacle.CACHE_NOT_READY)
    key = Key(namespace="default", name="web")
    theirs = {key: Target(replicas=7)}
    scalers = {("default", "h"): OtherScaler("h", "apps", "Deployment", "web")}
    both = world(
        declared("web", scaleTargetRef=KRUISE),
        declared("also", scaleTargetRef=KRUISE | {"apiVersion": "apps/v1"}),
        other_targets=theirs,
        scalers=scalers,
    )
    also, web = subjects_of(both)
    assert web.target is not None
    assert (web.target.replicas, web.obstacle) == (7, None)
    assert also.obstacle is Obstacle.HPA_ON_TARGET


def test_what_keeps_another_kind_from_being_known_is_told() -> None:
    key = Key(namespace="default", name="web")
    gone = Hindrance(obstacle=Obstacle.TARGET_MISSING, text="it went")
    [found] = subjects_of(world(declared("web", scaleTargetRef=KRUISE), other_targets={key: gone}))
    assert (found.target, found.obstacle_text) == (None, "it went")
