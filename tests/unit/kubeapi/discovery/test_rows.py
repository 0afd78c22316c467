from starlette.responses import Response

from fakes.api_servers import BOX, Loads
from gputide.kubeapi.discovery.rows import resource_rows
from gputide.kubeapi.registry import Call, GroupVersion, Virtual


async def answer(_call: Call) -> Response:
    return Response()


def test_a_kind_has_a_row_and_one_for_each_part() -> None:
    whole, status, scale = resource_rows(GroupVersion("x.io", "v1", kinds={"boxes": BOX}))
    assert whole["name"] == "boxes"
    assert whole["shortNames"] == ["bx"]
    assert whole["categories"] == ["all"]
    assert "watch" in whole["verbs"]
    assert (status["name"], status["kind"]) == ("boxes/status", "Box")
    assert (scale["name"], scale["kind"]) == ("boxes/scale", "Scale")
    assert (scale["group"], scale["version"]) == ("autoscaling", "v1")


def test_a_computed_group_says_its_own_rows() -> None:
    rows = resource_rows(GroupVersion("load.x.io", "v1", computed=Loads()))
    assert [one["name"] for one in rows] == ["loads", "pods/load"]


def test_a_virtual_resource_has_a_row() -> None:
    log = Virtual(
        group="",
        version="v1",
        name="pods/log",
        kind="Pod",
        verbs=("get",),
        endpoint=answer,
        response_group="a",
        response_version="v2",
    )
    (row,) = resource_rows(GroupVersion("", "v1", virtual={"pods/log": log}))
    assert (row["name"], row["verbs"], row["singularName"]) == ("pods/log", ["get"], "")
    assert (row["group"], row["version"]) == ("a", "v2")
