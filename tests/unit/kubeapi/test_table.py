from fakes.api_servers import BOX
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.negotiate import Accepted, Form
from gputide.kubeapi.table import Shown

TABLE = Accepted(form=Form.TABLE, version="v1")
OBJECT: JsonObject = {
    "apiVersion": "x.io/v1",
    "kind": "Box",
    "metadata": {
        "name": "a",
        "resourceVersion": "7",
        "creationTimestamp": "1970-01-01T00:00:00Z",
    },
    "spec": {"size": 3},
}


def shown(accepted: Accepted = TABLE, include: str = "") -> Shown:
    return Shown(accepted, BOX.columns, include=include, now_seconds=300)


def test_a_row_has_the_cells_and_the_metadata() -> None:
    table = shown().one(OBJECT)
    assert table["kind"] == "Table"
    assert table["apiVersion"] == "meta.k8s.io/v1"
    assert table["metadata"] == {"resourceVersion": "7"}
    (row,) = table["rows"]
    assert row["cells"] == ["a", 3, None, "5m"]
    assert row["object"]["kind"] == "PartialObjectMetadata"
    assert row["object"]["metadata"] == OBJECT["metadata"]


def test_columns_say_their_type_and_priority() -> None:
    columns = shown().one(OBJECT)["columnDefinitions"]
    assert [(one["name"], one["format"], one["priority"]) for one in columns] == [
        ("Name", "name", 0),
        ("Size", "", 0),
        ("Mode", "", 1),
        ("Age", "", 0),
    ]


def test_a_row_holds_what_the_client_wants_to_see_of_the_object() -> None:
    assert shown(include="Object").one(OBJECT)["rows"][0]["object"] == OBJECT
    assert "object" not in shown(include="None").one(OBJECT)["rows"][0]


def test_a_list_keeps_its_metadata() -> None:
    metadata = {"resourceVersion": "9", "continue": "x"}
    table = shown().many({"metadata": metadata, "items": [OBJECT, OBJECT]})
    assert table["metadata"] == metadata
    assert len(table["rows"]) == 2


def test_a_kind_without_columns_shows_name_and_age() -> None:
    table = Shown(TABLE, (), now_seconds=60).one(OBJECT)
    assert [one["name"] for one in table["columnDefinitions"]] == ["Name", "Age"]
    assert table["rows"][0]["cells"] == ["a", "60s"]


def test_metadata_alone_is_a_form_of_its_own() -> None:
    partial = Accepted(form=Form.PARTIAL_LIST, version="v1")
    listed = shown(partial).many({"metadata": {"resourceVersion": "9"}, "items": [OBJECT]})
    assert listed["kind"] == "PartialObjectMetadataList"
    assert listed["items"] == [
        {
            "kind": "PartialObjectMetadata",
            "apiVersion": "meta.k8s.io/v1",
            "metadata": OBJECT["metadata"],
        }
    ]


def test_a_bookmark_is_a_table_without_rows() -> None:
    table = shown().mark({"metadata": {"resourceVersion": "12"}})
    assert table["metadata"] == {"resourceVersion": "12"}
    assert table["rows"] == []


def test_the_plain_form_is_the_object_itself() -> None:
    assert shown(Accepted()).one(OBJECT) is OBJECT


def test_an_object_of_an_odd_shape_hides_no_other() -> None:
    odd = {"metadata": {"name": "odd", "creationTimestamp": None}, "spec": []}
    rows = shown().many({"metadata": {}, "items": [odd, OBJECT]})["rows"]
    assert rows[0]["cells"] == ["odd", None, None, "<unknown>"]
    assert rows[1]["cells"][:2] == ["a", 3]
