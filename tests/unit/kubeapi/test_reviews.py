import json

import pytest
from starlette.requests import Request

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import ANONYMOUS, Attributes, Credentials, JsonObject, Ruling, User
from gputide.kubeapi.paths import Target
from gputide.kubeapi.registry import Call
from gputide.kubeapi.reviews import reviews

ANN = User(name="ann", groups=("dev",), uid="u-1", extra={"scope": ("a",)})


class Known:
    """Knows one token, calls another a lie, and takes the rest for nobody's."""

    async def authenticate(self, credentials: Credentials) -> User | None:
        if credentials.bearer_token == "stolen":
            raise StatusError(401, "Unauthorized", "token expired")
        return {"ann": ANN, "nobody": ANONYMOUS}.get(credentials.bearer_token or "")


class Remembers:
    """Allows what reads, and remembers what it was asked."""

    def __init__(self) -> None:
        self.asked: list[Attributes] = []

    async def authorize(self, attributes: Attributes) -> Ruling:
        self.asked.append(attributes)
        is_allowed = attributes.verb == "get"
        return Ruling(is_allowed=is_allowed, reason="" if is_allowed else "only reading")


async def reviewed(name: str, spec: object, authorizer: Remembers | None = None) -> JsonObject:
    """Post a review of ann's and return its status."""
    (virtual,) = (one for one in reviews(Known(), authorizer or Remembers()) if one.name == name)
    body = json.dumps({"kind": virtual.kind, "spec": spec}).encode()

    async def receive() -> dict:
        return {"type": "http.request", "body": body}

    scope = {"type": "http", "method": "POST", "headers": [], "query_string": b"", "path": "/"}
    target = Target(group=virtual.group, version="v1", resource=name)
    call = Call(request=Request(scope, receive), user=ANN, target=target, verb="create")
    answer = await virtual.endpoint(call)
    assert answer.status_code == 201
    content = json.loads(bytes(answer.body))
    assert content["spec"] == spec
    return dict(content["status"])


async def test_a_token_is_told_whose_it_is() -> None:
    assert await reviewed("tokenreviews", {"token": "ann"}) == {
        "authenticated": True,
        "user": {"username": "ann", "groups": ["dev"], "uid": "u-1", "extra": {"scope": ["a"]}},
    }
    for token in ("unknown", "nobody"):
        status = await reviewed("tokenreviews", {"token": token})
        assert status == {"authenticated": False, "user": {}}
    assert (await reviewed("tokenreviews", {"token": "stolen"}))["error"] == "token expired"


async def test_a_user_is_told_who_he_is() -> None:
    assert (await reviewed("selfsubjectreviews", {}))["userInfo"]["username"] == "ann"


async def test_the_authorizer_is_asked_what_the_review_says() -> None:
    authorizer = Remembers()
    spec = {
        "user": "bob",
        "groups": ["ops"],
        "extra": {"a": ["b"]},
        "resourceAttributes": {
            "verb": "get",
            "group": "apps",
            "version": "v1",
            "resource": "deployments",
            "subresource": "scale",
            "namespace": "n",
            "name": "web",
        },
    }
    assert await reviewed("subjectaccessreviews", spec, authorizer) == {"allowed": True}

    assert authorizer.asked == [
        Attributes(
            user=User(name="bob", groups=("ops",), extra={"a": ("b",)}),
            verb="get",
            path="",
            is_resource=True,
            group="apps",
            version="v1",
            resource="deployments",
            subresource="scale",
            namespace="n",
            name="web",
        )
    ]


async def test_a_review_of_oneself_is_about_the_caller() -> None:
    authorizer = Remembers()
    spec = {"nonResourceAttributes": {"verb": "post", "path": "/metrics"}}
    status = await reviewed("selfsubjectaccessreviews", spec, authorizer)

    assert status == {"allowed": False, "reason": "only reading"}
    assert (authorizer.asked[0].user, authorizer.asked[0].path) == (ANN, "/metrics")
    assert not authorizer.asked[0].is_resource


@pytest.mark.parametrize(
    ("name", "spec"),
    [
        ("tokenreviews", {}),
        ("tokenreviews", {"token": 3}),
        ("subjectaccessreviews", {"resourceAttributes": {}}),
        ("subjectaccessreviews", {"user": "a", "groups": "b", "resourceAttributes": {}}),
        ("selfsubjectaccessreviews", {}),
        ("selfsubjectaccessreviews", {"resourceAttributes": {}, "nonResourceAttributes": {}}),
        ("selfsubjectaccessreviews", {"resourceAttributes": {"verb": 3}}),
        ("selfsubjectaccessreviews", []),
        ("selfsubjectaccessreviews", "text"),
    ],
)
async def test_a_review_that_says_too_little_is_a_bad_request(name: str, spec: object) -> None:
    with pytest.raises(StatusError) as refused:
        await reviewed(name, spec)

    assert refused.value.code == 400
