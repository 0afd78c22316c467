import base64
import json
from http import HTTPStatus

import bcrypt
import pytest

from fakes.clock import FakeClock
from fakes.gpu_nodes import t4
from gputide.exporter.http.model import Request, Response
from gputide.exporter.http.published import Published
from gputide.exporter.http.site import Health, Site, TokenBucket
from gputide.exporter.http.web_config import WebConfig, parse_web_config
from gputide.exporter.render import render
from gputide.exposition import Family, Format


class Source:
    def __init__(self, health: Health) -> None:
        self.published = Published(render(t4()))
        self.scrapes: list[Format] = []
        self._health = health

    def health(self) -> Health:
        return self._health

    def own_families(self) -> tuple[Family, ...]:
        return ()

    def count_scrape(self, target: Format) -> None:
        self.scrapes.append(target)


class Web:
    def __init__(self, text: str) -> None:
        self.config: WebConfig = parse_web_config(text, source="web.yml")


WELL = Health(problem="", age_seconds=1.25)
ILL = Health(problem="no page was made within 15 s", age_seconds=20.0, notes=("GPU <3> is lost",))


def get(path: str, **more: str) -> Request:
    return Request(method=more.pop("method", "GET"), path=path, headers=more)


async def answer(request: Request, *, health: Health = WELL, web: Web | None = None) -> Response:
    return await Site(Source(health), FakeClock(), web).answer(request)


async def test_metrics_are_served_in_the_format_that_is_asked_for() -> None:
    text = await answer(get("/metrics"))
    open_metrics = await answer(get("/metrics", accept="application/openmetrics-text"))

    assert text.content_type == Format.TEXT.value
    assert b"DCGM_FI_DEV_GPU_TEMP{" in text.body
    assert open_metrics.content_type == Format.OPENMETRICS.value
    assert open_metrics.body.endswith(b"# EOF\n")
    packed = await answer(get("/metrics", **{"accept-encoding": "gzip"}))
    assert packed.headers["content-encoding"] == "gzip"


async def test_health_tells_whether_the_collection_keeps_up() -> None:
    well, ill = await answer(get("/health")), await answer(get("/health"), health=ILL)

    assert (well.status, json.loads(well.body)["status"]) == (HTTPStatus.OK, "ok")
    assert ill.status is HTTPStatus.SERVICE_UNAVAILABLE
    assert json.loads(ill.body)["problem"] == ILL.problem


async def test_the_front_page_shows_notes_and_runs_nothing_of_them() -> None:
    page = (await answer(get("/"), health=ILL)).body.decode()

    assert "GPU &lt;3&gt; is lost" in page


@pytest.mark.parametrize(
    ("request_", "status"),
    [
        (get("/nowhere"), HTTPStatus.NOT_FOUND),
        (get("/metrics", method="POST"), HTTPStatus.METHOD_NOT_ALLOWED),
    ],
)
async def test_what_there_is_not_is_refused(request_: Request, status: HTTPStatus) -> None:
    assert (await answer(request_)).status is status


async def test_users_of_the_web_configuration_must_say_who_they_are() -> None:
    digest = bcrypt.hashpw(b"right", bcrypt.gensalt(rounds=4)).decode()
    web = Web(f"basic_auth_users:\n  prom: {digest}\n")
    right = "Basic " + base64.b64encode(b"prom:right").decode()

    refused = await answer(get("/metrics"), web=web)

    assert refused.status is HTTPStatus.UNAUTHORIZED
    assert "Basic" in refused.headers["WWW-Authenticate"]
    assert (await answer(get("/metrics", authorization=right), web=web)).status is HTTPStatus.OK


async def test_the_rate_limit_and_headers_of_the_web_configuration_hold() -> None:
    web = Web(
        "rate_limit: {interval: 1s, burst: 1}\n"
        "http_server_config: {headers: {X-Frame-Options: deny}}\n"
    )
    site = Site(Source(WELL), FakeClock(), web)

    first, second = await site.answer(get("/metrics")), await site.answer(get("/metrics"))

    assert first.headers["X-Frame-Options"] == "deny"
    assert (first.status, second.status) == (HTTPStatus.OK, HTTPStatus.TOO_MANY_REQUESTS)


def test_a_token_bucket_allows_a_burst_after_a_pause() -> None:
    clock = FakeClock(0)
    bucket = TokenBucket(clock)
    clock.seconds = 100

    taken = [bucket.take(1.0, 3) for _ in range(4)]
    clock.seconds += 1

    assert taken == [True, True, True, False]
    assert bucket.take(1.0, 3)
