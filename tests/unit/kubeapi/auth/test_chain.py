from dataclasses import dataclass, replace

import pytest

from fakes.api_servers import ADMIN, Gate
from gputide.kubeapi.auth.chain import AUTHENTICATED, AlwaysAllowed, Chain
from gputide.kubeapi.model import ANONYMOUS, Attributes, Credentials, User

NOTHING = Credentials(bearer_token=None, peer_certificate_der=None, headers={})
JANE, JOHN = User(name="jane"), User(name="john")


@dataclass
class Knows:
    user: User | None

    async def authenticate(self, _credentials: Credentials) -> User | None:
        return self.user


async def test_the_first_who_knows_the_user_is_believed() -> None:
    user = await Chain([Knows(None), Knows(JANE), Knows(JOHN)]).authenticate(NOTHING)
    assert user == replace(JANE, groups=(AUTHENTICATED,))


async def test_whoever_shows_nothing_is_anonymous_or_nobody() -> None:
    assert await Chain([Knows(None)]).authenticate(NOTHING) == ANONYMOUS
    assert await Chain([Knows(None)], allows_anonymous=False).authenticate(NOTHING) is None


@pytest.mark.parametrize("user", [ANONYMOUS, ADMIN])
async def test_groups_that_say_so_already_are_left_alone(user: User) -> None:
    assert await Chain([Knows(user)]).authenticate(NOTHING) == user


@pytest.mark.parametrize("path", ["/healthz", "/livez", "/readyz"])
async def test_health_may_be_asked_by_everybody(path: str) -> None:
    gate = Gate(denied_verbs=frozenset({"get"}))
    asked = Attributes(user=ANONYMOUS, verb="get", path=path, is_resource=False)
    assert (await AlwaysAllowed(gate).authorize(asked)).is_allowed
    assert gate.asked == []


async def test_masters_may_do_everything_and_others_are_asked_about() -> None:
    gate = Gate(denied_verbs=frozenset({"delete"}))
    asked = Attributes(user=ADMIN, verb="delete", path="/", is_resource=True, resource="pods")
    assert (await AlwaysAllowed(gate).authorize(asked)).is_allowed
    assert not (await AlwaysAllowed(gate).authorize(replace(asked, user=JANE))).is_allowed


async def test_a_resource_cannot_pass_as_a_health_check() -> None:
    gate = Gate(denied_verbs=frozenset({"get"}))
    asked = Attributes(user=JANE, verb="get", path="/healthz", is_resource=True)
    assert not (await AlwaysAllowed(gate).authorize(asked)).is_allowed
