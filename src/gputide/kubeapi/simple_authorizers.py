"""Authorizers that ask nobody: for one machine, and for tests."""

from collections.abc import Collection

from gputide.kubeapi.model import Attributes, Ruling

READING = frozenset({"get", "list", "watch"})


class AllowAll:
    """Everybody may do everything."""

    async def authorize(self, _attributes: Attributes) -> Ruling:
        """Allow."""
        return Ruling(is_allowed=True)


class AllowGroups:
    """Members of some groups may do everything, others nothing."""

    def __init__(self, groups: Collection[str]) -> None:
        self._groups = frozenset(groups)

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Allow a member."""
        if self._groups & set(attributes.user.groups):
            return Ruling(is_allowed=True)
        return Ruling(is_allowed=False, reason="no member of a group that is allowed")


class ReadOnly:
    """Everybody may read."""

    async def authorize(self, attributes: Attributes) -> Ruling:
        """Allow get, list and watch."""
        if attributes.verb in READING:
            return Ruling(is_allowed=True)
        return Ruling(is_allowed=False, reason="this server can only be read")
