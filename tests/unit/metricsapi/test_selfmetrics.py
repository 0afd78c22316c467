"""What the server tells of itself."""

from starlette.types import Message, Receive, Scope, Send

from fakes.clock import FakeClock
from gputide.exposition import parse
from gputide.exposition.rows import by, one
from gputide.metricsapi import catalog
from gputide.metricsapi.selfmetrics import Counted, SelfMetrics, group_of

EXTERNAL = "/apis/external.metrics.k8s.io/v1beta1/namespaces/n/m"


async def receive() -> Message:
    return {"type": "http.request", "body": b""}


class Sent:
    def __init__(self) -> None:
        self.messages: list[Message] = []

    async def __call__(self, message: Message) -> None:
        self.messages.append(message)


async def test_requests_are_counted_by_group_and_code_and_timed() -> None:
    clock = FakeClock()

    async def app(scope: Scope, _receive: Receive, send: Send) -> None:
        clock.seconds += 0.03
        if scope["path"] != "/gone":
            await send({"type": "http.response.start", "status": 404})

    counted = Counted(app, clock)
    for path in (EXTERNAL, EXTERNAL, "/apis/stranger.io/v1", "/gone"):
        await counted({"type": "http", "path": path}, receive, Sent())
    page = SelfMetrics(counted, lambda: {catalog.FORECAST_FAILURES: one(3)}).page()
    values = {(s.name, s.labels): s.value for family in parse(page) for s in family.samples}

    name, group = "gputide_metricsapi_requests_total", "external.metrics.k8s.io"
    assert values[name, (("group", group), ("code", "404"))] == 2
    assert values[name, (("group", "other"), ("code", "404"))] == 1
    assert values[name, (("group", "other"), ("code", "499"))] == 1
    bucket = "gputide_metricsapi_request_duration_seconds_bucket"
    assert values[bucket, (("group", group), ("le", "0.025"))] == 0
    assert values[bucket, (("group", group), ("le", "0.05"))] == 2
    assert values["gputide_metricsapi_forecast_failures_total", ()] == 3


async def test_the_page_is_plain_http_and_other_paths_are_not_there() -> None:
    async def app(_scope: Scope, _receive: Receive, _send: Send) -> None:
        raise AssertionError

    page = SelfMetrics(Counted(app, FakeClock()), lambda: {catalog.FORWARD_UP: one(None)})
    answers = {}
    for method, path in [
        ("GET", "/metrics"),
        ("GET", "/healthz"),
        ("GET", "/x"),
        ("PUT", "/metrics"),
    ]:
        sent = Sent()
        await page({"type": "http", "method": method, "path": path}, receive, sent)
        answers[method, path] = sent.messages[0]["status"]

    assert list(answers.values()) == [200, 200, 404, 404]


def test_values_by_label_are_sorted_and_unknown_has_no_sample() -> None:
    assert by("kind", {"b": 1, "a": 2}) == [((("kind", "a"),), 2), ((("kind", "b"),), 1)]
    assert (one(None), one(1)) == ([], [((), 1)])


def test_a_stranger_cannot_make_series() -> None:
    assert {group_of(f"/apis/x{i}/v1") for i in range(9)} | {group_of("/")} == {"other"}
