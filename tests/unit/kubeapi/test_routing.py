import pytest
from starlette.requests import Request

from fakes.api_servers import ADMIN
from gputide.kubeapi.model import Ruling
from gputide.kubeapi.routing import PEER_CERTIFICATE, Route, credentials, route


def request(path: str, method: str = "GET", query: str = "", **more: object) -> Request:
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query.encode(),
        "headers": [],
    }
    return Request(scope | more)


PODS, POD = "/api/v1/namespaces/n/pods", "/api/v1/namespaces/n/pods/p"


@pytest.mark.parametrize(
    ("method", "path", "query", "verb"),
    [
        ("GET", POD, "", "get"),
        ("GET", PODS, "", "list"),
        ("GET", PODS, "watch=true", "watch"),
        ("GET", PODS, "watch=1", "watch"),
        ("GET", POD, "watch=true", "watch"),
        ("GET", PODS, "watch=false", "list"),
        ("POST", PODS, "", "create"),
        ("PUT", POD, "", "update"),
        ("PATCH", POD, "", "patch"),
        ("DELETE", POD, "", "delete"),
        ("DELETE", PODS, "", "deletecollection"),
        ("GET", "/healthz", "", "get"),
        ("POST", "/nothing", "", "post"),
    ],
)
def test_a_method_is_a_verb(method: str, path: str, query: str, verb: str) -> None:
    assert route(request(path, method, query)).verb == verb


def test_an_authorizer_is_asked_in_the_words_of_a_review() -> None:
    attributes = route(request(f"{POD}/log")).attributes(ADMIN)
    assert attributes.is_resource
    assert (attributes.resource, attributes.subresource) == ("pods", "log")
    assert (attributes.namespace, attributes.name) == ("n", "p")


def test_a_list_of_one_name_is_about_that_name() -> None:
    found = route(request(PODS, query="fieldSelector=metadata.name%3Dp"))
    assert found.attributes(ADMIN).name == "p"


def test_watches_and_logs_are_streams() -> None:
    streams: list[Route] = [route(request(PODS, query="watch=1")), route(request(f"{POD}/log"))]
    assert [one.is_long_running for one in streams] == [True, True]
    assert not route(request(POD)).is_long_running


def test_a_refusal_says_who_may_not_do_what() -> None:
    text = route(request(PODS)).refusal(ADMIN, Ruling(is_allowed=False, reason="no role"))
    assert text == (
        'pods "" is forbidden: User "admin" cannot list resource "pods" in API group "" '
        'in the namespace "n": no role'
    )
    path = route(request("/version")).refusal(ADMIN, Ruling(is_allowed=False))
    assert path == 'forbidden: User "admin" cannot get path "/version"'


def test_credentials_are_the_token_the_certificate_and_all_headers() -> None:
    headers = [(b"authorization", b"Bearer  abc"), (b"x-a", b"1"), (b"x-a", b"2")]
    found = credentials(
        request("/", headers=headers, extensions={PEER_CERTIFICATE: b"certificate"})
    )
    assert found.bearer_token == "abc"
    assert found.peer_certificate_der == b"certificate"
    assert found.headers["x-a"] == ("1", "2")


@pytest.mark.parametrize("value", [b"Basic abc", b"Bearer", b"Bearer ", b""])
def test_other_schemes_are_no_token(value: bytes) -> None:
    found = credentials(request("/", headers=[(b"authorization", value)]))
    assert found.bearer_token is None
