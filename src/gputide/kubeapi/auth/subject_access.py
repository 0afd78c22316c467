"""Authorization by the cluster: a SubjectAccessReview a request."""

from collections.abc import Hashable

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.kubeapi.auth.answers import Answers
from gputide.kubeapi.auth.ports import DEFAULT_BOUNDS, CacheBounds, Reviews
from gputide.kubeapi.model import Attributes, JsonObject, Ruling


class SubjectAccess:
    """Asks the cluster; a ruling counts for some seconds, and no answer is a refusal."""

    def __init__(
        self, reviews: Reviews, clock: Clock, *, bounds: CacheBounds = DEFAULT_BOUNDS
    ) -> None:
        self._reviews = reviews
        self._answers: Answers[Ruling] = Answers(bounds, clock)

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Return the cluster's ruling."""
        spec = review_spec(attributes)
        try:
            return await self._answers.get(_key(spec), lambda: self._ask(spec))
        except TimeoutError:
            why = "no answer in time"
        except GputideError as error:
            why = str(error)
        return Ruling(is_allowed=False, reason=f"access could not be reviewed: {why}")

    async def _ask(self, spec: JsonObject) -> Ruling:
        review = await self._reviews.subject_access_review(
            {
                "apiVersion": "authorization.k8s.io/v1",
                "kind": "SubjectAccessReview",
                "spec": spec,
            }
        )
        status = review.get("status")
        found = status if isinstance(status, dict) else {}
        is_allowed = found.get("allowed") is True and found.get("denied") is not True
        reason = str(found.get("reason") or found.get("evaluationError") or "")
        return Ruling(is_allowed=is_allowed, reason=reason)


def review_spec(attributes: Attributes) -> JsonObject:
    """Return the `spec` of the review that asks for these attributes."""
    user = attributes.user
    spec: JsonObject = {"user": user.name, "groups": list(user.groups)}
    if user.uid:
        spec["uid"] = user.uid
    if user.extra:
        spec["extra"] = {name: list(values) for name, values in user.extra.items()}
    if not attributes.is_resource:
        return spec | {"nonResourceAttributes": {"path": attributes.path, "verb": attributes.verb}}
    names = ("verb", "group", "version", "resource", "subresource", "namespace", "name")
    stated = {name: getattr(attributes, name) for name in names}
    return spec | {"resourceAttributes": {name: one for name, one in stated.items() if one}}


def _key(value: object) -> Hashable:
    """Return the value as something that can be looked up."""
    if isinstance(value, dict):
        return tuple(sorted((name, _key(one)) for name, one in value.items()))
    return tuple(map(_key, value)) if isinstance(value, list) else str(value)
