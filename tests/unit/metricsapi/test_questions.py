"""What a cache in front of somebody slow does with failures."""

import pytest

from fakes.clock import FakeClock
from gputide.errors import InputError, QueryError
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.questions import Questions, no_metric


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (QueryError("http://p", "HTTP 500"), 503, "http://p: HTTP 500"),
        (InputError("rule 3", "is no query"), 500, "rule 3: is no query"),
        (TimeoutError(), 504, "no answer within 7 seconds"),
        (no_metric("m", "stale"), 404, "could not find the metric m: stale"),
    ],
)
async def test_what_goes_wrong_comes_out_as_a_status(
    error: Exception, code: int, words: str
) -> None:
    questions: Questions[str] = Questions(FakeClock(), CacheBounds(deadline_seconds=7))

    async def ask() -> str:
        raise error

    with pytest.raises(StatusError, match=words) as caught:
        await questions.get("key", ask)
    assert caught.value.code == code
