from dataclasses import replace

from fakes.api_servers import ADMIN
from fakes.clock import FakeClock
from fakes.reviews import FakeReviews
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.auth.subject_access import SubjectAccess, review_spec
from gputide.kubeapi.model import Attributes, User

READ = Attributes(
    user=User(name="jane", groups=("dev",), uid="7", extra={"k": ("v",)}),
    verb="get",
    path="/apis/m/v1/namespaces/n/pods/p/load",
    is_resource=True,
    group="m",
    version="v1",
    resource="pods",
    subresource="load",
    namespace="n",
    name="p",
)


def test_a_review_says_who_wants_what() -> None:
    assert review_spec(READ) == {
        "user": "jane",
        "groups": ["dev"],
        "uid": "7",
        "extra": {"k": ["v"]},
        "resourceAttributes": {
            "verb": "get",
            "group": "m",
            "version": "v1",
            "resource": "pods",
            "subresource": "load",
            "namespace": "n",
            "name": "p",
        },
    }


def test_a_review_of_a_path_says_the_path() -> None:
    path = Attributes(user=ADMIN, verb="get", path="/version", is_resource=False)
    expected = {"path": "/version", "verb": "get"}
    assert review_spec(path)["nonResourceAttributes"] == expected


async def test_a_ruling_counts_for_some_seconds_and_for_that_question_alone() -> None:
    reviews, clock = FakeReviews(allowed={"get"}), FakeClock()
    authorizer = SubjectAccess(reviews, clock)
    assert (await authorizer.authorize(READ)).is_allowed
    reviews.allowed.clear()
    assert (await authorizer.authorize(READ)).is_allowed
    assert not (await authorizer.authorize(replace(READ, name="q"))).is_allowed
    clock.seconds += 11
    ruling = await authorizer.authorize(READ)
    assert (ruling.is_allowed, ruling.reason) == (False, "no role")


async def test_no_answer_is_a_refusal_that_says_why() -> None:
    down = await SubjectAccess(FakeReviews(is_down=True), FakeClock()).authorize(READ)
    assert not down.is_allowed
    assert "it is down" in down.reason

    slow = FakeReviews(allowed={"get"})
    slow.gate.clear()
    bounds = CacheBounds(deadline_seconds=0.01)
    late = await SubjectAccess(slow, FakeClock(), bounds=bounds).authorize(READ)
    assert not late.is_allowed
    assert "no answer in time" in late.reason
