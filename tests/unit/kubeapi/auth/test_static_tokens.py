import pytest

from fakes.api_servers import ADMIN
from gputide.kubeapi.auth.static_tokens import StaticTokens
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials


def credentials(token: str | None) -> Credentials:
    return Credentials(bearer_token=token, peer_certificate_der=None, headers={})


async def test_a_token_of_the_list_names_its_user() -> None:
    tokens = StaticTokens({"secret": ADMIN})
    assert await tokens.authenticate(credentials("secret")) == ADMIN
    assert await tokens.authenticate(credentials(None)) is None


async def test_an_unknown_token_is_a_lie_unless_others_are_asked() -> None:
    with pytest.raises(StatusError) as caught:
        await StaticTokens({"secret": ADMIN}).authenticate(credentials("secre"))
    assert caught.value.code == 401
    asked = StaticTokens({"secret": ADMIN}, is_last=False)
    assert await asked.authenticate(credentials("\udcff")) is None
