"""What metrics.alibabacloud.com answers."""

from base64 import b64decode

import pytest

from fakes.clock import FakeClock
from fakes.metric_sources import FakeForecasts
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import ANONYMOUS, ReadRequest
from gputide.metricsapi.predictions.group import Predictions


def group() -> Predictions:
    return Predictions(FakeForecasts(), FakeClock(), CacheBounds(seconds=1))


def request(resource: str, name: str = "", namespace: str = "default", **query: str) -> ReadRequest:
    return ReadRequest(
        user=ANONYMOUS,
        verb="get" if name else "list",
        resource=resource,
        namespace=namespace,
        name=name,
        query={key: (value,) for key, value in query.items()},
    )


async def test_the_observer_is_a_page_in_base64() -> None:
    answer = await group().read(request("predictionsobserver", "fib-gpu"))

    assert answer["kind"] == "PredictionsObserver"
    assert answer["apiVersion"] == "metrics.alibabacloud.com/v1beta1"
    assert answer["metadata"] == {
        "name": "fib-gpu",
        "namespace": "default",
        "uid": "u-1",
        "creationTimestamp": "2026-03-01T23:59:40Z",
    }
    assert b64decode(answer["content"]).startswith(b"<!doctype html>")


async def test_a_page_is_drawn_once_for_each_language() -> None:
    api = group()
    for lang in ("en", "en", "zh"):
        await api.read(request("predictionsobserver", "fib-gpu", lang=lang))

    assert (api.questions.counts.asked, api.questions.counts.passed_on) == (3, 2)


@pytest.mark.parametrize(
    "asked",
    [
        request("predictions", "fib-gpu"),
        request("predictionsobserver", "fib-gpu", format="json"),
    ],
)
async def test_numbers_come_as_numbers(asked: ReadRequest) -> None:
    answer = await group().read(asked)

    assert answer["prediction"]["forecastDemand"] == 2.345
    assert answer["prediction"]["past"]["demand"][0] is None
    assert "content" not in answer


@pytest.mark.parametrize(("namespace", "count"), [("default", 1), ("", 1), ("other", 0)])
async def test_lists_hold_numbers_and_no_pages(namespace: str, count: int) -> None:
    answer = await group().read(request("predictionsobserver", namespace=namespace))

    assert answer["kind"] == "PredictionsObserverList"
    assert len(answer["items"]) == count
    assert all("content" not in one for one in answer["items"])


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        (request("predictionsobserver", "absent"), 404),
        (request("predictionsobservers", "fib-gpu"), 404),
        (request("predictionsobserver", "fib-gpu", format="pdf"), 400),
        (request("predictionsobserver", "fib-gpu", lang="fr"), 400),
    ],
)
async def test_what_is_not_there_is_refused(asked: ReadRequest, code: int) -> None:
    with pytest.raises(StatusError) as caught:
        await group().read(asked)
    assert caught.value.code == code


def test_discovery_lists_both_from_memory() -> None:
    assert [(one.name, one.verbs) for one in group().resources()] == [
        ("predictionsobserver", ("get", "list")),
        ("predictions", ("get", "list")),
    ]
