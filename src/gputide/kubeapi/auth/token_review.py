"""Users that prove themselves by a bearer token, which the cluster reviews."""

import hashlib

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.kubeapi.auth.answers import Answers
from gputide.kubeapi.auth.ports import DEFAULT_BOUNDS, CacheBounds, Reviews
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials, JsonObject, User

MAX_TOKEN_CHARACTERS = 16 * 1024


class TokenReview:
    """Asks the cluster; an answer counts for some seconds."""

    def __init__(
        self, reviews: Reviews, clock: Clock, *, bounds: CacheBounds = DEFAULT_BOUNDS
    ) -> None:
        self._reviews = reviews
        self._answers: Answers[JsonObject] = Answers(bounds, clock)

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the token's user; raise 401 for one that is refused, 503 without an answer."""
        token = credentials.bearer_token
        if not token:
            return None
        if len(token) > MAX_TOKEN_CHARACTERS:
            raise StatusError(401, "Unauthorized", "the bearer token is too long")
        key = hashlib.sha256(token.encode()).digest()  # the token itself is kept nowhere
        try:
            status = await self._answers.get(key, lambda: self._ask(token))
        except TimeoutError as error:
            raise _unavailable("no answer in time") from error
        except GputideError as error:
            raise _unavailable(str(error)) from error
        return _user(status)

    async def _ask(self, token: str) -> JsonObject:
        review = await self._reviews.token_review(
            {
                "apiVersion": "authentication.k8s.io/v1",
                "kind": "TokenReview",
                "spec": {"token": token},
            }
        )
        status = review.get("status")
        return status if isinstance(status, dict) else {}


def _user(status: JsonObject) -> User:
    found = status.get("user")
    user = found if isinstance(found, dict) else {}
    if status.get("authenticated") is not True or not user.get("username"):
        raise StatusError(401, "Unauthorized", "the bearer token is not valid")
    extra = user.get("extra") or {}
    return User(
        name=str(user["username"]),
        groups=tuple(map(str, user.get("groups") or ())),
        uid=str(user.get("uid") or ""),
        extra={str(name): tuple(map(str, values)) for name, values in extra.items()},
    )


def _unavailable(why: str) -> StatusError:
    message = f"the bearer token could not be reviewed: {why}"
    return StatusError(503, "ServiceUnavailable", message, retry_after_seconds=1)
