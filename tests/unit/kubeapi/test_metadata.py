from typing import Any

import pytest

from fakes.api_servers import BOX
from gputide.kubeapi.metadata import (
    metadata_problems,
    name_problem,
    unknown_metadata,
    without_unknown,
)
from gputide.kubeapi.model import Kind

NAMESPACE = Kind(group="", version="v1", kind="Namespace", plural="namespaces")
SERVICE = Kind(group="", version="v1", kind="Service", plural="services")
ROLE = Kind(group="rbac.authorization.k8s.io", version="v1", kind="Role", plural="roles")


def fields(metadata: object) -> list[str]:
    return [one.field for one in metadata_problems({"metadata": metadata}, BOX)]


@pytest.mark.parametrize("name", ["a", "a-b.c", "0", "v1.x.io", "a" * 253])
def test_a_good_name_passes(name: str) -> None:
    assert fields({"name": name}) == []


@pytest.mark.parametrize("name", ["A", "-a", "a-", "a_b", "a..b", "a/b", "ä", "a" * 254, "a\n"])
def test_a_bad_name_is_named(name: str) -> None:
    assert fields({"name": name}) == ["metadata.name"]


def test_kinds_have_rules_of_their_own() -> None:
    assert name_problem("a.b", NAMESPACE)
    assert name_problem("1a", SERVICE)
    assert not name_problem("system:auth-delegator", ROLE)
    assert name_problem("a/b", ROLE)


def test_a_name_may_be_generated() -> None:
    assert fields({"generateName": "job-"}) == []
    assert fields({"generateName": "Job-"}) == ["metadata.generateName"]
    assert fields({}) == ["metadata.name"]


@pytest.mark.parametrize(
    ("metadata", "field"),
    [
        ({"labels": {"a": "x" * 64}}, "metadata.labels"),
        ({"labels": {"a b": "x"}}, "metadata.labels"),
        ({"labels": {"a": 1}}, "metadata.labels.a"),
        ({"labels": []}, "metadata.labels"),
        ({"annotations": {"a": 1}}, "metadata.annotations.a"),
        ({"annotations": {"a": "x" * 300_000}}, "metadata.annotations"),
        ({"annotations": "x"}, "metadata.annotations"),
        ({"annotations": {"/a": "x"}}, "metadata.annotations"),
        ({"finalizers": "x"}, "metadata.finalizers"),
        ({"ownerReferences": {}}, "metadata.ownerReferences"),
        ({"uid": 3}, "metadata.uid"),
    ],
)
def test_what_is_wrong_is_named(metadata: dict[str, Any], field: str) -> None:
    assert fields({"name": "a"} | metadata) == [field]


def test_an_owner_needs_all_that_identifies_it() -> None:
    owner = {"apiVersion": "v1", "kind": "Pod", "name": "p"}
    assert fields({"name": "a", "ownerReferences": [owner]}) == ["metadata.ownerReferences[0].uid"]


def test_metadata_that_is_no_object_is_named() -> None:
    assert fields(None) == ["metadata"]


def test_unknown_metadata_is_found_and_left_out() -> None:
    obj = {"metadata": {"name": "a", "foo": 1, "labels": None}}
    assert list(unknown_metadata(obj)) == ["metadata.foo"]
    assert without_unknown(obj) == {"metadata": {"name": "a"}}
