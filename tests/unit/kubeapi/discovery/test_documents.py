import json

from fakes.api_servers import BOX, Loads
from gputide.kubeapi.discovery import Discovery
from gputide.kubeapi.discovery.documents import Document
from gputide.kubeapi.model import ComputedResource
from gputide.kubeapi.negotiate import Accepted, Form
from gputide.kubeapi.registry import Registry

V2 = Accepted(form=Form.DISCOVERY, version="v2")


def names(document: Document | None) -> list[str]:
    assert document is not None
    return [one["metadata"]["name"] for one in json.loads(document.body)["items"]]


def test_discovery_follows_the_registry() -> None:
    registry = Registry(kinds=[BOX])
    discovery = Discovery(registry)
    before = discovery.groups(V2)
    registry.add_computed(Loads())
    after = discovery.groups(V2)
    assert names(before) == ["x.io"]
    assert names(after) == ["x.io", "load.x.io"]
    assert before is not None
    assert after is not None
    assert before.etag != after.etag


def test_a_computed_group_may_change_what_it_lists() -> None:
    loads = Loads()
    discovery = Discovery(Registry(computed=[loads]))
    before = discovery.resources("load.x.io", "v1")
    loads.listed = (*loads.listed, ComputedResource(name="peaks", kind="Peak"))
    after = discovery.resources("load.x.io", "v1")
    assert after is not None
    assert after != before
    assert b"peaks" in after.body


def test_nothing_is_made_twice() -> None:
    discovery = Discovery(Registry(kinds=[BOX], computed=[Loads()]))
    assert discovery.groups(V2) is discovery.groups(V2)
    assert discovery.openapi_index() is discovery.openapi_index()


def test_the_openapi_index_has_the_hash_of_each_document() -> None:
    discovery = Discovery(Registry(kinds=[BOX]))
    document, index = discovery.openapi("x.io", "v1"), discovery.openapi_index()
    assert document is not None
    assert index is not None
    assert document.etag.encode() in index.body


def test_what_is_not_served_has_no_document() -> None:
    discovery = Discovery(Registry(kinds=[BOX]))
    assert discovery.core(Accepted(), "") is None
    assert discovery.group("y.io") is None
    assert discovery.resources("x.io", "v2") is None
    assert discovery.openapi("y.io", "v1") is None
    assert names(discovery.core(V2, "")) == []
