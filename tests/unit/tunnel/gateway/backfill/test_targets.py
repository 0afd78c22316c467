import httpx2
import pytest

from gputide.clock import SystemClock
from gputide.errors import QueryError
from gputide.tunnel.gateway.backfill.targets import TargetLabels, place_of

ANSWER = """{"status": "success", "data": {"activeTargets": [
  {"scrapeUrl": "http://edge-1:9400/metrics", "labels": {"job": "a", "instance": "edge-1:9400"}},
  {"scrapeUrl": "http://Edge-1:9400/metrics", "labels": {"job": "b"}},
  {"scrapeUrl": "https://edge-2/metrics", "labels": {"job": "c"}},
  {"scrapeUrl": "://", "labels": {"job": "d"}}
]}}"""


def labels_of(answer: httpx2.Response) -> tuple[TargetLabels, list[str]]:
    asked: list[str] = []

    def respond(request: httpx2.Request) -> httpx2.Response:
        asked.append(str(request.url))
        return answer

    client = httpx2.AsyncClient(transport=httpx2.MockTransport(respond))
    return TargetLabels(client, "http://prometheus:9090/", SystemClock()), asked


async def test_labels_are_found_by_node_and_port_and_kept_for_a_while() -> None:
    labels, asked = labels_of(httpx2.Response(200, text=ANSWER))
    assert await labels.of("edge-1", 9400) == [
        {"job": "a", "instance": "edge-1:9400"},
        {"job": "b"},
    ]
    assert await labels.of("edge-2", 443) == [{"job": "c"}]
    assert await labels.of("edge-3", 9400) == []
    assert asked == ["http://prometheus:9090/api/v1/targets?state=active"]


@pytest.mark.parametrize(
    ("answer", "problem"),
    [
        (httpx2.Response(200, text="<html>"), "answers with no targets"),
        (httpx2.Response(400, text='{"status": "error", "error": "no"}'), "no"),
    ],
)
async def test_an_answer_that_is_none_is_named(answer: httpx2.Response, problem: str) -> None:
    labels, _ = labels_of(answer)
    with pytest.raises(QueryError, match=problem):
        await labels.of("edge-1", 9400)


def test_a_url_without_a_port_has_its_schemes() -> None:
    assert place_of("http://a/metrics") == ("a", 80)
    assert place_of("http://[fd00::1]:9400/") == ("fd00::1", 9400)
    assert place_of("http://a:port/") is None
