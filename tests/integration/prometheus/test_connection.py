"""The client against servers that misbehave, over real sockets."""

import asyncio
import gzip
from collections.abc import Iterator
from urllib.parse import parse_qs, urlsplit

import pytest
from structlog.testing import capture_logs

from fakes.clock import FakeClock
from fakes.http_server import Request, http_server, response
from gputide.errors import QueryError
from gputide.prometheus.client import Prometheus
from gputide.prometheus.connection import MAX_ATTEMPTS
from gputide.prometheus.settings import PrometheusSettings

VECTOR = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
MATRIX = b'{"status":"success","data":{"resultType":"matrix","result":[]}}'
BUSY = "503 Service Unavailable"


def client(url: str, **fields: object) -> Prometheus:
    settings = PrometheusSettings(url=url, **fields)  # type: ignore[arg-type] fields of the test
    return Prometheus(settings, clock=FakeClock(), random=lambda: 1.0)


def in_turn(*answers: bytes) -> Iterator[bytes]:
    yield from answers


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (
            response(b"<!doctype html><title>Log in</title>", content_type="text/html"),
            r"unexpected answer: a web page \('Log in'\) instead of JSON",
        ),
        (response(VECTOR[:40]), "JSON that is cut off after 40 bytes"),
        (response(b""), "an empty body instead of JSON"),
        (response(b'{"status":"error","errorType":"bad","error":"own words"}'), "bad: own words"),
        (response(status="401 Unauthorized"), r"HTTP 401 \(give a bearer token"),
        (response(b"no", "403 Forbidden", content_type="text/plain"), "HTTP 403: no"),
        (
            response(status="302 Found", headers={"Location": "https://sso.example/?to=x"}),
            r"redirects to sso.example \(HTTP 302\): a login page",
        ),
        (response(VECTOR, headers={"Content-Encoding": "gzip"}), "compression is broken"),
        (b"SSH-2.0-OpenSSH_9.2\r\n", "the connection broke"),
        (b"", "the connection broke"),
        (response(VECTOR, length=1000), "the connection broke"),
        (response(MATRIX), "the query gives a matrix"),
    ],
)
async def test_an_answer_that_is_none_is_one_clear_line(answer: bytes, words: str) -> None:
    async with http_server(lambda _: answer) as server, client(server.url) as prometheus:
        with pytest.raises(QueryError, match=words) as caught:
            await prometheus.query("up")

    assert str(caught.value).startswith(f"{server.url}: ")
    assert "\n" not in str(caught.value)
    assert caught.value.exit_code == 2


async def test_a_range_query_that_answers_a_vector_is_an_error() -> None:
    async with http_server(lambda _: response(VECTOR)) as server, client(server.url) as prometheus:
        with pytest.raises(QueryError, match="answered with a vector, not a matrix"):
            await prometheus.query_range("up", start_seconds=0, end_seconds=60, step_seconds=60)


@pytest.mark.parametrize("failure", [response(status="429 Too Many"), response(status=BUSY), b""])
async def test_a_busy_server_is_asked_again_with_growing_pauses(failure: bytes) -> None:
    answers = in_turn(failure, failure, response(VECTOR))
    clock = FakeClock()
    async with http_server(lambda _: next(answers)) as server:
        settings = PrometheusSettings(url=server.url)
        async with Prometheus(settings, clock=clock, random=lambda: 0.5) as prometheus:
            assert (await prometheus.query("up")).labels == ()

    assert clock.slept == [0.125, 0.25]


async def test_a_server_that_stays_busy_is_given_up() -> None:
    async with (
        http_server(lambda _: response(status=BUSY)) as server,
        client(server.url) as prometheus,
    ):
        with pytest.raises(QueryError, match="HTTP 503"):
            await prometheus.query("up")

    assert len(server.requests) == MAX_ATTEMPTS


async def test_the_wait_that_a_server_asks_for_is_respected() -> None:
    answers = in_turn(response(status=BUSY, headers={"Retry-After": "9"}), response(VECTOR))
    clock = FakeClock()
    async with http_server(lambda _: next(answers)) as server:
        settings = PrometheusSettings(url=server.url)
        async with Prometheus(settings, clock=clock, random=lambda: 0.0) as prometheus:
            await prometheus.query("up")

    assert clock.slept == [9.0]


async def test_no_wait_goes_past_the_deadline() -> None:
    answer = response(status=BUSY, headers={"Retry-After": "60"})
    async with (
        http_server(lambda _: answer) as server,
        client(server.url, timeout_seconds=30) as prometheus,
    ):
        with pytest.raises(QueryError, match="HTTP 503"):
            await prometheus.query("up")

    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "answer",
    [
        response(b'{"status":"error","errorType":"timeout","error":"timed out"}', BUSY),
        response(b'{"status":"error","errorType":"execution","error":"x"}', "422 Unprocessable"),
        response(status="500 Internal Server Error"),
    ],
)
async def test_other_failures_are_not_asked_again(answer: bytes) -> None:
    async with http_server(lambda _: answer) as server, client(server.url) as prometheus:
        with pytest.raises(QueryError):
            await prometheus.query("up")

    assert len(server.requests) == 1


async def test_a_server_that_says_nothing_is_left_at_the_deadline() -> None:
    async with (
        http_server(lambda _: None) as server,
        client(server.url, timeout_seconds=0.05) as prometheus,
    ):
        with pytest.raises(QueryError, match=r"no answer within 0\.05 s"):
            await prometheus.query("up")


async def test_the_deadline_spans_all_pieces_of_a_range() -> None:
    answers = iter([response(MATRIX), None])
    async with (
        http_server(lambda _: next(answers, None)) as server,
        client(server.url, timeout_seconds=0.1, max_concurrency=1) as prometheus,
    ):
        with pytest.raises(QueryError, match=r"no answer within 0\.1 s"):
            await prometheus.query_range("up", start_seconds=0, end_seconds=1e7, step_seconds=60)

    assert len(server.requests) == 2


async def test_an_answer_that_unpacks_to_too_much_is_stopped() -> None:
    bomb = response(gzip.compress(bytes(10_000_000)), headers={"Content-Encoding": "gzip"})
    async with (
        http_server(lambda _: bomb) as server,
        client(server.url, max_response_bytes=100_000) as prometheus,
    ):
        with pytest.raises(QueryError, match="larger than 100000 bytes"):
            await prometheus.query("up")


async def test_headers_user_and_path_prefix_are_sent() -> None:
    async with http_server(lambda _: response(VECTOR)) as server:
        url = server.url.replace("http://", "http://me:pw@") + "/prefix/"
        async with client(url, headers=("X-Scope-OrgID: team",)) as prometheus:
            await prometheus.query("up{a='b c&d'}", at_seconds=12.5)
    (request,) = server.requests

    assert request.headers["x-scope-orgid"] == "team"
    assert request.headers["authorization"] == "Basic bWU6cHc="
    assert request.headers["user-agent"].startswith("gputide/")
    parts = urlsplit(request.target)
    assert parts.path == "/prefix/api/v1/query"
    assert parse_qs(parts.query) == {
        "query": ["up{a='b c&d'}"],
        "time": ["12.500"],
        "timeout": ["60s"],
    }


async def test_a_short_question_is_a_get_and_a_long_one_a_posted_form() -> None:
    expression = "sum(" + "x" * 3000 + ")"
    async with http_server(lambda _: response(VECTOR)) as server, client(server.url) as prometheus:
        await prometheus.query("up")
        await prometheus.query(expression)
    short, long = server.requests

    assert (short.method, short.body) == ("GET", b"")
    assert (long.method, long.target) == ("POST", "/api/v1/query")
    assert parse_qs(long.body.decode())["query"] == [expression]


async def test_a_token_that_the_server_quotes_is_not_printed() -> None:
    def quote(request: Request) -> bytes:
        words = f"no such token: {request.headers['authorization']}".encode()
        return response(words, "401 Unauthorized", content_type="text/plain")

    async with (
        http_server(quote) as server,
        client(server.url, bearer_token="hunter22") as prometheus,
    ):
        with pytest.raises(QueryError, match=r"HTTP 401: no such token: \*\*\*") as caught:
            await prometheus.query("up")

    assert "hunter22" not in str(caught.value)


async def test_warnings_of_the_server_reach_the_result() -> None:
    body = MATRIX.replace(b'"status"', b'"warnings":["one store is away"],"status"')
    async with http_server(lambda _: response(body)) as server, client(server.url) as prometheus:
        found = await prometheus.query_range(
            "up", start_seconds=0, end_seconds=1e6, step_seconds=60
        )

    assert found.warnings == ("one store is away",)


async def test_warnings_about_names_and_labels_are_logged() -> None:
    body = b'{"status":"success","data":["a"],"warnings":["one store is away"]}'
    async with http_server(lambda _: response(body)) as server, client(server.url) as prometheus:
        with capture_logs() as logs:
            assert await prometheus.label_names() == ("a",)

    assert logs[0]["warnings"] == ("one store is away",)


async def test_no_more_requests_run_at_once_than_allowed() -> None:
    waiting = 0
    most = 0
    is_free = asyncio.Event()

    async def count(_: Request) -> bytes:
        nonlocal waiting, most
        waiting += 1
        most = max(most, waiting)
        if waiting == 3:  # all that may come are here; more would have come by then
            is_free.set()
        await is_free.wait()
        waiting -= 1
        return response(MATRIX)

    async with http_server(count) as server, client(server.url, max_concurrency=3) as prometheus:
        await prometheus.query_range("up", start_seconds=0, end_seconds=1e7, step_seconds=60)

    assert len(server.requests) == 16
    assert most == 3


@pytest.mark.parametrize(
    ("answers", "is_ready"),
    [
        ([response(b"ready", content_type="text/plain")], True),
        ([response(status=BUSY)], False),
        ([response(status="404 Not Found"), response(VECTOR)], False),
        (
            [
                response(status="404 Not Found"),
                response(VECTOR.replace(b"[]", b'[{"metric":{},"value":[1,"1"]}]')),
            ],
            True,
        ),
        ([b""], False),
    ],
)
async def test_readiness_is_asked_once_and_found_on_managed_servers_too(
    answers: list[bytes], *, is_ready: bool
) -> None:
    turns = iter(answers)
    async with http_server(lambda _: next(turns)) as server, client(server.url) as prometheus:
        assert await prometheus.is_ready() is is_ready

    assert len(server.requests) == len(answers)


async def test_a_refusal_is_not_the_same_as_not_ready() -> None:
    answer = response(status="401 Unauthorized")
    async with http_server(lambda _: answer) as server, client(server.url) as prometheus:
        with pytest.raises(QueryError, match="HTTP 401"):
            await prometheus.is_ready()


async def test_a_name_that_nobody_knows_is_named() -> None:
    async with client("http://prometheus.invalid:9090") as prometheus:
        with pytest.raises(QueryError, match=r"^http://prometheus.invalid:9090: cannot connect: "):
            await prometheus.query("up")


async def test_a_client_that_is_closed_while_it_asks_says_so() -> None:
    async with (
        asyncio.timeout(20),
        http_server(lambda _: response(VECTOR)) as server,
        client(server.url) as prometheus,
    ):
        await prometheus.close()
        with pytest.raises(QueryError, match="is asked no more: the client was closed"):
            await prometheus.query("up")
