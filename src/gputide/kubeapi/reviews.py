"""Reviews: TokenReview, SubjectAccessReview and the like, answered by the server's own ports."""

from collections.abc import Mapping
from typing import Any

from starlette.responses import Response

from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.handlers.answer import json_answer
from gputide.kubeapi.handlers.body import as_object, read_object
from gputide.kubeapi.model import ANONYMOUS, Attributes, Credentials, JsonObject, User
from gputide.kubeapi.ports import Authenticator, Authorizer
from gputide.kubeapi.registry import Call, Endpoint, Virtual

AUTHENTICATION = "authentication.k8s.io"
AUTHORIZATION = "authorization.k8s.io"
MAX_BODY_BYTES = 1024 * 1024


def reviews(authenticator: Authenticator, authorizer: Authorizer) -> tuple[Virtual, ...]:
    """Return the create-only resources of authentication.k8s.io/v1 and authorization.k8s.io/v1."""

    async def token_review(call: Call) -> Response:
        review = await _review(call)
        return _answer(review, await _token_status(authenticator, _spec(review)))

    async def self_review(call: Call) -> Response:
        return _answer(await _review(call), {"userInfo": _user_info(call.user)})

    async def access_review(call: Call) -> Response:
        review = await _review(call)
        spec = _spec(review)
        return _answer(review, await _access_status(authorizer, spec, _stated_user(spec)))

    async def self_access_review(call: Call) -> Response:
        review = await _review(call)
        return _answer(review, await _access_status(authorizer, _spec(review), call.user))

    return (
        _virtual(AUTHENTICATION, "TokenReview", token_review),
        _virtual(AUTHENTICATION, "SelfSubjectReview", self_review),
        _virtual(AUTHORIZATION, "SubjectAccessReview", access_review),
        _virtual(AUTHORIZATION, "SelfSubjectAccessReview", self_access_review),
    )


def _virtual(group: str, kind: str, endpoint: Endpoint) -> Virtual:
    return Virtual(
        group=group,
        version="v1",
        name=f"{kind.lower()}s",
        kind=kind,
        verbs=("create",),
        endpoint=endpoint,
        is_namespaced=False,
    )


async def _review(call: Call) -> JsonObject:
    return await read_object(call.request, MAX_BODY_BYTES)


def _answer(review: JsonObject, status: JsonObject) -> Response:
    return json_answer({"metadata": {}} | review | {"status": status}, code=201)


async def _token_status(authenticator: Authenticator, spec: JsonObject) -> JsonObject:
    token = spec.get("token")
    if not isinstance(token, str) or not token:
        raise bad_request("token is required for TokenReview in authentication")
    asked = Credentials(bearer_token=token, peer_certificate_der=None, headers={})
    try:
        user = await authenticator.authenticate(asked)
    except StatusError as error:
        if error.code != 401:
            raise
        return {"authenticated": False, "user": {}, "error": str(error)}
    if user is None or user.name == ANONYMOUS.name:
        return {"authenticated": False, "user": {}}
    return {"authenticated": True, "user": _user_info(user)}


async def _access_status(authorizer: Authorizer, spec: JsonObject, user: User) -> JsonObject:
    ruling = await authorizer.authorize(_attributes(spec, user))
    status: JsonObject = {"allowed": ruling.is_allowed}
    return status | ({"reason": ruling.reason} if ruling.reason else {})


def _attributes(spec: JsonObject, user: User) -> Attributes:
    resource, path = spec.get("resourceAttributes"), spec.get("nonResourceAttributes")
    if (resource is None) == (path is None):
        message = "exactly one of nonResourceAttributes or resourceAttributes must be specified"
        raise bad_request(message)
    asked = as_object(path if resource is None else resource)

    def text(name: str) -> str:
        return _text(asked, name)

    if resource is None:
        return Attributes(user=user, verb=text("verb"), path=text("path"), is_resource=False)
    return Attributes(
        user=user,
        verb=text("verb"),
        path="",
        is_resource=True,
        group=text("group"),
        version=text("version"),
        resource=text("resource"),
        subresource=text("subresource"),
        namespace=text("namespace"),
        name=text("name"),
    )


def _stated_user(spec: JsonObject) -> User:
    """Return the user that a SubjectAccessReview is about."""
    groups, extra = spec.get("groups") or [], spec.get("extra") or {}
    if not (spec.get("user") or groups):
        raise bad_request("at least one of user or group must be specified")
    if not isinstance(groups, list) or not isinstance(extra, dict):
        raise bad_request("groups must be a list and extra an object of lists")
    return User(
        name=_text(spec, "user"),
        groups=tuple(map(str, groups)),
        uid=_text(spec, "uid"),
        extra={str(name): tuple(map(str, values)) for name, values in extra.items()},
    )


def _user_info(user: User) -> JsonObject:
    found: dict[str, Any] = {"username": user.name, "groups": list(user.groups)}
    if user.uid:
        found["uid"] = user.uid
    if user.extra:
        found["extra"] = {name: list(values) for name, values in user.extra.items()}
    return found


def _spec(review: JsonObject) -> JsonObject:
    return as_object(review.get("spec") or {})


def _text(values: Mapping[str, Any], name: str) -> str:
    value = values.get(name) or ""
    if not isinstance(value, str):
        raise bad_request(f"{name} must be a string")
    return value
