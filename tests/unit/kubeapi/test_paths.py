import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kubeapi.paths import Target, segments, target


def found(path: str) -> Target | None:
    return target(segments(path))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/api/v1/pods", ("", "v1", "pods", "", "", "")),
        ("/api/v1/namespaces/n/pods/p/log", ("", "v1", "pods", "n", "p", "log")),
        ("/api/v1/namespaces", ("", "v1", "namespaces", "", "", "")),
        ("/api/v1/namespaces/n", ("", "v1", "namespaces", "n", "n", "")),
        ("/api/v1/namespaces/n/status", ("", "v1", "namespaces", "n", "n", "status")),
        ("/api/v1/namespaces/n/finalize", ("", "v1", "namespaces", "n", "n", "finalize")),
        ("/apis/a.io/v1/boxes/b", ("a.io", "v1", "boxes", "", "b", "")),
        ("/apis/a.io/v1/namespaces/n/boxes/b/status", ("a.io", "v1", "boxes", "n", "b", "status")),
        ("/apis/m/v1/namespaces/n/pods/%2A/gpu_util", ("m", "v1", "pods", "n", "*", "gpu_util")),
        ("/apis/m/v1/namespaces/n/metrics/qps", ("m", "v1", "metrics", "n", "qps", "")),
        ("/apis/m/v1/nodes/g1/power", ("m", "v1", "nodes", "", "g1", "power")),
    ],
)
def test_a_resource_path_is_taken_apart(path: str, expected: tuple[str, ...]) -> None:
    one = found(path)
    assert one is not None
    parts = (one.group, one.version, one.resource, one.namespace, one.name, one.subresource)
    assert parts == expected


@pytest.mark.parametrize(
    "path", ["/", "/api", "/api/v1", "/apis", "/apis/a.io", "/apis/a.io/v1", "/healthz", "/x/y/z"]
)
def test_other_paths_are_no_resources(path: str) -> None:
    assert found(path) is None


def test_an_escaped_slash_stays_in_its_segment() -> None:
    assert segments(b"/api/v1/pods/a%2Fb/") == ("api", "v1", "pods", "a/b")


@given(st.text(max_size=100))
def test_any_path_is_read(path: str) -> None:
    one = found(path)
    assert one is None or one.resource
