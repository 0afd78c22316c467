from dataclasses import replace

from fakes.api_servers import ADMIN
from gputide.kubeapi.model import ANONYMOUS, Attributes
from gputide.kubeapi.simple_authorizers import AllowAll, AllowGroups, ReadOnly

READ = Attributes(user=ADMIN, verb="list", path="/", is_resource=True, resource="pods")
WRITE = replace(READ, verb="delete")


async def test_everybody_may_do_everything() -> None:
    assert (await AllowAll().authorize(WRITE)).is_allowed


async def test_members_may_and_others_may_not() -> None:
    authorizer = AllowGroups(["system:masters"])
    ruling = await authorizer.authorize(replace(READ, user=ANONYMOUS))
    assert (await authorizer.authorize(WRITE)).is_allowed
    assert not ruling.is_allowed
    assert ruling.reason


async def test_a_server_that_is_read_only_can_be_read() -> None:
    assert (await ReadOnly().authorize(READ)).is_allowed
    assert not (await ReadOnly().authorize(WRITE)).is_allowed
