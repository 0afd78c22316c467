from gputide.kubeapi.discovery.legacy import core_versions, group_list, one_group, resource_list
from gputide.kubeapi.registry import GroupVersion

V2, V1 = GroupVersion("a.io", "v2"), GroupVersion("a.io", "v1")


def test_a_group_lists_its_versions_and_prefers_the_first() -> None:
    group = one_group("a.io", [V2, V1])
    assert group["kind"] == "APIGroup"
    assert [one["groupVersion"] for one in group["versions"]] == ["a.io/v2", "a.io/v1"]
    assert group["preferredVersion"] == {"groupVersion": "a.io/v2", "version": "v2"}


def test_the_core_group_stands_apart() -> None:
    core = GroupVersion("", "v1")
    assert [one["name"] for one in group_list({"": [core], "a.io": [V1]})["groups"]] == ["a.io"]
    assert core_versions([core], "host:1")["versions"] == ["v1"]
    assert resource_list(core)["groupVersion"] == "v1"
