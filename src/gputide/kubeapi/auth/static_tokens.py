"""Users that prove themselves by a token of a short list: for one machine."""

import hashlib
import hmac
from collections.abc import Mapping

from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials, User


class StaticTokens:
    """Compares with every token in a time that tells nothing about them."""

    def __init__(self, users: Mapping[str, User], *, is_last: bool = True) -> None:
        """`users`: token -> user; `is_last`: an unknown token is a lie, else others are asked."""
        self._users = [(_digest(token), user) for token, user in users.items()]
        self._is_last = is_last

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the token's user; raise 401 for an unknown token."""
        if credentials.bearer_token is None:
            return None
        digest = _digest(credentials.bearer_token)
        found = None
        for one, user in self._users:
            if hmac.compare_digest(one, digest):
                found = user
        if found is None and self._is_last:
            raise StatusError(401, "Unauthorized", "the bearer token is not valid")
        return found


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).digest()
