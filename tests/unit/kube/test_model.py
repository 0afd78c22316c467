import pytest

from gputide.kube.model import AUTOSCALERS, NODES, PODS, ResourceType, name_of, version_of


@pytest.mark.parametrize(
    ("kind", "namespace", "name", "path"),
    [
        (PODS, "", "", "/api/v1/pods"),
        (PODS, "demo", "", "/api/v1/namespaces/demo/pods"),
        (PODS, "demo", "a", "/api/v1/namespaces/demo/pods/a"),
        (NODES, "ignored", "gpu-1", "/api/v1/nodes/gpu-1"),
        (PODS, "a b", "ü?", "/api/v1/namespaces/a%20b/pods/%C3%BC%3F"),
    ],
)
def test_a_kind_knows_where_it_is_served(
    kind: ResourceType, namespace: str, name: str, path: str
) -> None:
    assert kind.path(namespace, name) == path


def test_a_kind_is_named_as_kubectl_names_it() -> None:
    name = "advancedhorizontalpodautoscalers.autoscaling.alibabacloud.com"

    assert AUTOSCALERS.qualified == name
    assert AUTOSCALERS.api_version == "autoscaling.alibabacloud.com/v1beta1"
    assert (PODS.qualified, PODS.api_version) == ("pods", "v1")


@pytest.mark.parametrize("obj", [{}, {"metadata": None}, {"metadata": {}}])
def test_an_object_without_metadata_has_empty_names(obj: dict[str, object]) -> None:
    assert name_of(obj) == ("", "")
    assert version_of(obj) == ""
