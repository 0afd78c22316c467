from typing import Any

from fakes.autoscalers import autoscaler_object
from gputide.autoscaler.cluster.wire import (
    declared_from,
    pod_from,
    requests_of,
    scaler_from,
    workload_from,
)


def test_an_autoscaler_is_read_and_its_status_is_no_part_of_what_it_asks_for() -> None:
    obj = autoscaler_object() | {"status": {"conditions": []}}
    found = declared_from(obj, default_time_zone="Europe/Berlin")
    assert found.autoscaler is not None
    assert found.autoscaler.bounds.zone.key == "Europe/Berlin"
    assert (found.name, found.uid, found.generation, found.problem) == ("web", "uid-web", 1, "")
    assert found.status == {"conditions": []}


def test_a_bad_autoscaler_is_kept_with_its_problem() -> None:
    found = declared_from(autoscaler_object(maxReplicas="many"), default_time_zone="UTC")
    assert found.autoscaler is None
    assert found.problem.startswith("spec.maxReplicas: ")


def test_requests_are_summed_over_containers_and_limits_stand_in() -> None:
    spec: dict[str, Any] = {
        "containers": [
            {"resources": {"requests": {"cpu": "200m", "memory": "500M"}}},
            {"resources": {"limits": {"cpu": "1", "nvidia.com/gpu": 2}}},
            {},
        ]
    }
    assert requests_of(spec) == {"cpu": 1.2, "memory": 5e8, "nvidia.com/gpu": 2.0}


def test_replicas_that_are_not_set_are_one() -> None:
    found = workload_from({"metadata": {"uid": "u"}, "spec": {}})
    assert found is not None
    assert (found.replicas, found.requests) == (1, {})
    zero = workload_from({"metadata": {}, "spec": {"replicas": 0}})
    assert zero is not None
    assert zero.replicas == 0


def test_pods_that_end_or_have_ended_do_not_count() -> None:
    ready = {"type": "Ready", "status": "True"}
    pod = {"metadata": {"name": "p"}, "status": {"phase": "Running", "conditions": [ready]}}
    found = pod_from(pod)
    assert found is not None
    assert found.pod.is_ready
    assert pod_from({**pod, "status": {"phase": "Succeeded"}}) is None
    assert pod_from({**pod, "metadata": {"name": "p", "deletionTimestamp": "now"}}) is None
    pending = pod_from({"metadata": {"name": "p"}, "status": {"phase": "Pending"}})
    assert pending is not None
    assert not pending.pod.is_ready


def test_an_hpa_names_its_target() -> None:
    found = scaler_from(
        {"metadata": {"name": "h"}, "spec": {"scaleTargetRef": {"kind": "D", "name": "w"}}}
    )
    assert found is not None
    assert (found.name, found.target_kind, found.target_name) == ("h", "D", "w")
