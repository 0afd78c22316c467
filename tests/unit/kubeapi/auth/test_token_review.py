import pytest

from fakes.clock import FakeClock
from fakes.reviews import FakeReviews
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.auth.token_review import TokenReview
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials, User

JANE = {"username": "jane", "uid": "7", "groups": ["dev"], "extra": {"k": ["v"]}}


def credentials(token: str | None) -> Credentials:
    return Credentials(bearer_token=token, peer_certificate_der=None, headers={})


async def test_the_cluster_says_whose_token_it_is() -> None:
    reviews = FakeReviews(tokens={"secret": JANE})
    authenticator = TokenReview(reviews, FakeClock())
    expected = User(name="jane", groups=("dev",), uid="7", extra={"k": ("v",)})
    assert await authenticator.authenticate(credentials("secret")) == expected
    assert await authenticator.authenticate(credentials("secret")) == expected
    assert len(reviews.asked) == 1


async def test_whoever_shows_no_token_is_not_asked_about() -> None:
    reviews = FakeReviews()
    assert await TokenReview(reviews, FakeClock()).authenticate(credentials(None)) is None
    assert reviews.asked == []


@pytest.mark.parametrize("token", ["wrong", "x" * 20_000])
async def test_a_token_that_is_refused_is_a_401(token: str) -> None:
    with pytest.raises(StatusError) as caught:
        await TokenReview(FakeReviews(), FakeClock()).authenticate(credentials(token))
    assert caught.value.code == 401
    assert token not in str(caught.value)


async def test_without_an_answer_nobody_is_believed() -> None:
    with pytest.raises(StatusError) as caught:
        await TokenReview(FakeReviews(is_down=True), FakeClock()).authenticate(credentials("a"))
    assert caught.value.code == 503


async def test_an_answer_that_takes_too_long_is_none() -> None:
    reviews = FakeReviews(tokens={"secret": JANE})
    reviews.gate.clear()
    authenticator = TokenReview(reviews, FakeClock(), bounds=CacheBounds(deadline_seconds=0.01))
    with pytest.raises(StatusError) as caught:
        await authenticator.authenticate(credentials("secret"))
    assert caught.value.code == 503
