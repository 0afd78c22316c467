from fakes.api_servers import BOX, ZONE
from gputide.kubeapi.model import Kind
from gputide.kubeapi.openapi import META, group_document, index, schema_name
from gputide.kubeapi.registry import GroupVersion

GVK = {"group": "x.io", "version": "v1", "kind": "Box"}
DOCUMENT = group_document(GroupVersion("x.io", "v1", kinds={"boxes": BOX, "zones": ZONE}))
ITEM = "/apis/x.io/v1/namespaces/{namespace}/boxes/{name}"


def test_the_index_leads_to_a_document_by_its_hash() -> None:
    expected = {"serverRelativeURL": "/openapi/v3/apis/x.io/v1?hash=ABC"}
    assert index({"apis/x.io/v1": "ABC"}) == {"paths": {"apis/x.io/v1": expected}}


def test_each_writing_operation_names_its_kind_and_can_validate() -> None:
    collection = DOCUMENT["paths"]["/apis/x.io/v1/namespaces/{namespace}/boxes"]
    for operation in (collection["post"], *(DOCUMENT["paths"][ITEM][x] for x in ("put", "patch"))):
        assert operation["x-kubernetes-group-version-kind"] == GVK
        assert "fieldValidation" in [one["name"] for one in operation["parameters"]]


def test_a_patch_says_nothing_of_strategic_merge_so_that_kubectl_uses_its_own_types() -> None:
    types = DOCUMENT["paths"][ITEM]["patch"]["requestBody"]["content"]
    assert "application/strategic-merge-patch+json" not in types
    assert "application/merge-patch+json" in types


def test_a_schema_names_its_kind_and_has_the_metadata_of_every_object() -> None:
    schema = DOCUMENT["components"]["schemas"]["io.x.v1.Box"]
    assert schema["x-kubernetes-group-version-kind"] == [GVK]
    assert schema["properties"]["metadata"]["allOf"] == [{"$ref": f"#/components/schemas/{META}"}]
    assert schema["properties"]["spec"]["properties"]["mode"]["enum"] == ["a", "b"]


def test_a_cluster_scoped_kind_lies_in_no_namespace() -> None:
    paths = [path for path in DOCUMENT["paths"] if "zones" in path]
    assert paths == ["/apis/x.io/v1/zones", "/apis/x.io/v1/zones/{name}"]


def test_the_core_group_has_paths_of_its_own() -> None:
    pod = Kind(group="", version="v1", kind="Pod", plural="pods")
    document = group_document(GroupVersion("", "v1", kinds={"pods": pod}))
    assert "/api/v1/namespaces/{namespace}/pods/{name}" in document["paths"]
    assert schema_name(pod) == "io.k8s.api.core.v1.Pod"
