from starlette.types import ASGIApp

from fakes.api_servers import BOX, Loads
from gputide.kubeapi.model import JsonObject, Kind
from gputide.kubeapi.registry import Registry, version_order


class Behind:
    group, version = "behind.x.io", "v1"

    def resource_list(self) -> JsonObject | None:
        return None

    @property
    def app(self) -> ASGIApp:
        raise NotImplementedError


def test_the_preferred_version_comes_first() -> None:
    kinds = [
        Kind(group="x.io", version=version, kind="Box", plural="boxes")
        for version in ("v1beta1", "v1", "v2alpha1")
    ]
    versions = [one.version for one in Registry(kinds=kinds).groups()["x.io"]]
    assert versions == ["v1", "v1beta1", "v2alpha1"]


def test_versions_that_are_none_come_last() -> None:
    assert sorted(["stable", "v1alpha1"], key=version_order) == ["v1alpha1", "stable"]


def test_what_is_removed_is_served_no_more_and_an_empty_group_is_gone() -> None:
    registry = Registry(kinds=[BOX], computed=[Loads()])
    registry.add_proxied(Behind())
    before = registry.revision

    registry.remove_kind(BOX)
    registry.remove_computed("load.x.io", "v1")
    registry.remove_proxied("behind.x.io", "v1")

    assert registry.groups() == {}
    assert registry.revision == before + 3


def test_removing_what_is_not_there_changes_nothing() -> None:
    registry = Registry()
    registry.remove_kind(BOX)
    registry.remove_computed("x", "v1")
    registry.remove_proxied("x", "v1")
    assert registry.revision == 0


def test_a_kind_that_is_added_again_has_its_new_form() -> None:
    registry = Registry(kinds=[BOX])
    newer = Kind(group="x.io", version="v1", kind="Box", plural="boxes", short_names=("b",))
    registry.add_kind(newer)
    assert registry.kinds() == (newer,)
