"""What external.metrics.k8s.io answers."""

import asyncio

import pytest

from fakes.clock import FakeClock
from fakes.metric_sources import AT, FakeExternal
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import ANONYMOUS, ReadRequest
from gputide.metricsapi.external import ExternalMetrics
from gputide.metricsapi.ports import ExternalAsk, Measured

ONE = Measured(value="189", at_seconds=AT, labels=(("model", "bert"),), window_seconds=60)


def request(metric: str, *, selector: str = "", namespace: str = "default") -> ReadRequest:
    query = {"labelSelector": (selector,)} if selector else {}
    return ReadRequest(
        user=ANONYMOUS, verb="list", resource=metric, namespace=namespace, query=query
    )


def group(*sources: FakeExternal, clock: FakeClock | None = None) -> ExternalMetrics:
    return ExternalMetrics(sources, clock or FakeClock(), CacheBounds(seconds=1))


async def test_a_value_goes_out_with_its_labels_true_time_and_window() -> None:
    answer = await group(FakeExternal({"gpu_util": [ONE]})).read(request("gpu_util"))

    assert answer == {
        "kind": "ExternalMetricValueList",
        "apiVersion": "external.metrics.k8s.io/v1beta1",
        "metadata": {},
        "items": [
            {
                "metricName": "gpu_util",
                "metricLabels": {"model": "bert"},
                "timestamp": "2026-03-02T00:00:45Z",
                "value": "189",
                "window": 60,
            }
        ],
    }


async def test_the_first_source_that_knows_a_metric_answers_and_gets_the_selector() -> None:
    first, second = FakeExternal({"a": [ONE]}), FakeExternal({"a": [], "b": [ONE]})
    api = group(first, second)

    await api.read(request("a", selector="model=bert"))
    await api.read(request("b"))

    assert first.asked[0] == ExternalAsk(namespace="default", metric="a", selector="model=bert")
    assert [one.metric for one in second.asked] == ["b"]


@pytest.mark.parametrize(
    ("values", "words"),
    [({}, "no rule, forecast or other server has it"), ({"m": []}, "no series that can be told")],
)
async def test_a_metric_without_values_is_not_found_and_never_an_empty_list(
    values: dict[str, list[Measured]], words: str
) -> None:
    with pytest.raises(StatusError, match=words) as caught:
        await group(FakeExternal(dict(values))).read(request("m"))

    assert (caught.value.code, caught.value.reason) == (404, "NotFound")


async def test_many_clients_at_once_cost_one_question_and_a_second_later_a_second_one() -> None:
    clock, source = FakeClock(), FakeExternal({"m": [ONE]})
    source.gate.clear()
    api = group(source, clock=clock)
    waiting = [asyncio.create_task(api.read(request("m"))) for _ in range(64)]
    while not source.asked:
        await clock.sleep(0)
        await asyncio.wait(waiting, timeout=0)
    source.gate.set()
    answers = await asyncio.gather(*waiting)
    await api.read(request("m"))

    assert len(source.asked) == 1
    assert answers.count(answers[0]) == 64
    assert (api.questions.counts.asked, api.questions.counts.passed_on) == (65, 1)
    clock.seconds += 1.1
    await api.read(request("m"))
    assert len(source.asked) == 2


async def test_a_refusal_is_not_kept() -> None:
    source = FakeExternal({"m": StatusError(404, "NotFound", "stale")})
    api = group(source)
    with pytest.raises(StatusError, match="stale"):
        await api.read(request("m"))
    source.values["m"] = [ONE]

    assert (await api.read(request("m")))["items"][0]["value"] == "189"


async def test_a_metric_needs_a_namespace() -> None:
    with pytest.raises(StatusError, match="ask for namespaces/NAMESPACE/METRIC"):
        await group(FakeExternal({"m": [ONE]})).read(request("m", namespace=""))


def test_discovery_lists_each_name_once_and_stays_the_same_object_until_it_changes() -> None:
    source = FakeExternal({"a": []})
    api = group(source, FakeExternal({"a": [], "b": []}))
    listed = api.resources()

    assert [(one.name, one.kind) for one in listed] == [
        ("a", "ExternalMetricValueList"),
        ("b", "ExternalMetricValueList"),
    ]
    assert api.resources() is listed
    source.values["c"] = []
    assert [one.name for one in api.resources()] == ["a", "c", "b"]
