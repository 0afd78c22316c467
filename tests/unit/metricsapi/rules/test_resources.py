"""Which names are resources of Kubernetes."""

import pytest

from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.resources import KINDS, is_namespaced, known_kind


@pytest.mark.parametrize(
    ("name", "group", "qualified"),
    [
        ("pod", "", "pods"),
        ("pods", "", "pods"),
        ("Pod", "", "pods"),
        ("deployment", "", "deployments.apps"),
        ("deployment", "apps", "deployments.apps"),
        ("job", "", "jobs.batch"),
        ("ingress", "networking_k8s_io", "ingresses.networking.k8s.io"),
        ("ingress", "networking.k8s.io", "ingresses.networking.k8s.io"),
    ],
)
def test_a_name_in_either_number_finds_its_resource(name: str, group: str, qualified: str) -> None:
    kind = known_kind(name, group)

    assert kind is not None
    assert kind.resource.qualified == qualified


@pytest.mark.parametrize(
    ("name", "group"),
    [("instance", ""), ("UUID", ""), ("gpu", ""), ("", ""), ("pod", "apps"), ("deployment", "x")],
)
def test_what_is_no_resource_is_none(name: str, group: str) -> None:
    assert known_kind(name, group) is None


def test_only_some_live_outside_of_namespaces_and_the_unknown_is_taken_to_live_within() -> None:
    outside = {one.resource.plural for one in KINDS if not is_namespaced(one.resource)}

    assert outside == {"nodes", "namespaces", "persistentvolumes", "storageclasses"}
    assert is_namespaced(Resource(plural="rollouts", group="argoproj.io"))
