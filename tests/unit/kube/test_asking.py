import httpx2
import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kube.asking import (
    is_idempotent,
    object_path,
    retry_after,
    selection,
    words,
    writing,
)
from gputide.kube.errors import InvalidError
from gputide.kube.model import NODES, PODS


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "a%2Fb"])
def test_a_name_that_would_lead_elsewhere_is_refused(name: str) -> None:
    with pytest.raises(InvalidError, match="no object can have that name"):
        object_path(PODS, "default", name)


def test_a_namespace_that_would_lead_elsewhere_is_refused() -> None:
    with pytest.raises(InvalidError):
        object_path(PODS, "..", "web")


def test_a_path_names_namespace_object_and_subresource() -> None:
    path = object_path(PODS, "default", "web", "status")

    assert path == "/api/v1/namespaces/default/pods/web/status"
    assert object_path(NODES, "", "gpu-1") == "/api/v1/nodes/gpu-1"


@given(name=st.text(min_size=1, max_size=20))
def test_whatever_the_name_the_path_stays_below_the_collection(name: str) -> None:
    try:
        path = object_path(PODS, "default", name)
    except (InvalidError, UnicodeError):
        return

    assert httpx2.URL(f"http://host{path}").path == f"/api/v1/namespaces/default/pods/{name}"


@pytest.mark.parametrize(
    ("told", "seconds"),
    [
        *(("3", 3.0), ("0.5", 0.5), ("", None), ("-1", None), ("nan", None), ("inf", None)),
        ("Wed, 21 Oct 2026 07:28:00 GMT", None),
    ],
)
def test_only_a_number_of_seconds_is_a_wish_to_wait(told: str, seconds: float | None) -> None:
    assert retry_after(httpx2.Response(429, headers={"Retry-After": told})) == seconds


def test_a_write_is_repeated_only_where_it_names_the_version_it_rests_on() -> None:
    based = {"metadata": {"resourceVersion": "7"}}

    assert is_idempotent("GET", None)
    assert is_idempotent("DELETE", {})
    assert is_idempotent("PUT", based)
    assert not is_idempotent("PUT", {"metadata": {}})
    assert not is_idempotent("POST", based)
    assert not is_idempotent("PATCH", [{"op": "remove"}])


def test_parameters_that_are_not_given_are_not_sent() -> None:
    assert selection("", "metadata.name=a") == {"fieldSelector": "metadata.name=a"}
    assert writing("gputide") == {"fieldManager": "gputide"}
    assert writing("gputide", is_dry_run=True)["dryRun"] == "All"


def test_no_answer_is_told_with_the_server_and_why() -> None:
    assert words(TimeoutError(), "https://k") == "https://k does not answer in time"
    assert words(httpx2.ReadTimeout("slow"), "https://k") == "https://k does not answer in time"
    assert words(OSError("refused"), "https://k") == "https://k cannot be reached: refused"
    assert words(OSError(), "https://k") == "https://k cannot be reached: OSError"
