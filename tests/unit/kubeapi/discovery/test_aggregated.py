from typing import Any

from starlette.types import ASGIApp

from gputide.kubeapi.discovery.aggregated import aggregated, resources
from gputide.kubeapi.registry import GroupVersion


def row(name: str, *, namespaced: bool = True, **more: str) -> dict[str, Any]:
    return {"name": name, "namespaced": namespaced, "kind": "K", "verbs": ["get"]} | more


def test_a_name_with_a_slash_is_a_part_of_its_parent() -> None:
    (one,) = resources("g", "v1", [row("pods/load", kind="Load"), row("pods", kind="Pod")])
    assert one["responseKind"] == {"group": "g", "version": "v1", "kind": "Pod"}
    assert one["subresources"] == [
        {
            "subresource": "load",
            "responseKind": {"group": "g", "version": "v1", "kind": "Load"},
            "verbs": ["get"],
        }
    ]


def test_a_parent_that_is_not_listed_is_made_up_with_a_kind() -> None:
    (one,) = resources("g", "v1", [row("pods/load")])
    assert (one["resource"], one["scope"], one["verbs"]) == ("pods", "Namespaced", [])
    assert one["responseKind"] is not None


def test_a_part_of_another_scope_than_its_parent_is_left_out() -> None:
    (one,) = resources("g", "v1", [row("pods"), row("pods/load", namespaced=False)])
    assert "subresources" not in one


def test_a_part_may_have_a_kind_of_another_group() -> None:
    rows = [row("pods"), row("pods/scale", kind="Scale", group="autoscaling", version="v1")]
    (one,) = resources("g", "v2", rows)
    expected = {"group": "autoscaling", "version": "v1", "kind": "Scale"}
    assert one["subresources"][0]["responseKind"] == expected


class Behind:
    group, version = "b.io", "v1"
    known: dict[str, Any] | None = None

    def resource_list(self) -> dict[str, Any] | None:
        return self.known

    @property
    def app(self) -> ASGIApp:
        raise NotImplementedError


def test_a_group_whose_server_has_not_answered_yet_is_stale() -> None:
    behind = Behind()
    groups = {"b.io": [GroupVersion("b.io", "v1", proxied=behind)]}
    (version,) = aggregated(groups, "v2")["items"][0]["versions"]
    assert (version["freshness"], version["resources"]) == ("Stale", [])

    behind.known = {"resources": [row("loads")]}
    (version,) = aggregated(groups, "v2")["items"][0]["versions"]
    assert version["freshness"] == "Current"
    assert [one["resource"] for one in version["resources"]] == ["loads"]
