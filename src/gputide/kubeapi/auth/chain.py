"""Authenticators in turn, and what is always allowed."""

from collections.abc import Sequence
from dataclasses import replace

from gputide.kubeapi.model import ANONYMOUS, Attributes, Credentials, Ruling, User
from gputide.kubeapi.ports import Authenticator, Authorizer

AUTHENTICATED = "system:authenticated"
UNAUTHENTICATED = "system:unauthenticated"
MASTERS = "system:masters"
ALWAYS_ALLOWED = frozenset({"/healthz", "/livez", "/readyz"})


class Chain:
    """Asks authenticators in their order; the first who knows the user is believed.

    Everybody who is known gets the group system:authenticated, on which discovery's permissions
    rest. Whoever shows nothing is system:anonymous, or nobody (401).
    """

    def __init__(
        self, authenticators: Sequence[Authenticator], *, allows_anonymous: bool = True
    ) -> None:
        self._authenticators = tuple(authenticators)
        self._allows_anonymous = allows_anonymous

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the user; raise StatusError (401) where an authenticator sees a lie."""
        for one in self._authenticators:
            user = await one.authenticate(credentials)
            if user is not None:
                return with_group(user)
        return ANONYMOUS if self._allows_anonymous else None


def with_group(user: User) -> User:
    """Return the user as a member of system:authenticated, unless he is anonymous."""
    if user.name == ANONYMOUS.name or {AUTHENTICATED, UNAUTHENTICATED} & set(user.groups):
        return user
    return replace(user, groups=(*user.groups, AUTHENTICATED))


class AlwaysAllowed:
    """Allows health checks and system:masters, and asks somebody else about all others."""

    def __init__(self, authorizer: Authorizer) -> None:
        self._authorizer = authorizer

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Return the ruling."""
        is_health = not attributes.is_resource and attributes.path in ALWAYS_ALLOWED
        if is_health or MASTERS in attributes.user.groups:
            return Ruling(is_allowed=True)
        return await self._authorizer.authorize(attributes)
