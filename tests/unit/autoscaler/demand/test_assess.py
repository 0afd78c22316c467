import pytest

from fakes.autoscalers import subject
from gputide.autoscaler.demand.assess import Wanted, assess, unit_of
from gputide.autoscaler.demand.catalog import QUERIES, Shape
from gputide.autoscaler.demand.model import Answer, ApiSource, PodsSource, SeriesSource
from gputide.autoscaler.model import Demand, DemandState, Target
from gputide.prometheus.catalog import Metric

GPU = PodsSource(name="gpu", query=QUERIES[Metric.GPU, Shape.SHARE])
CPU = PodsSource(name="cpu", query=QUERIES[Metric.CPU, Shape.SHARE])
RT = PodsSource(name="rt", query=QUERIES[Metric.RESPONSE_TIME, Shape.AMOUNT])


def target(replicas: int = 4, *, ready: int | None = None, **requests: float) -> Target:
    named = {name.replace("_", ".").replace("..", "/"): value for name, value in requests.items()}
    found = subject(replicas=replicas, ready=ready, requests=named).target
    assert found is not None
    return found


def demand(source: PodsSource, pods: dict[str, float], of: Target | None) -> Demand:
    answer = Answer(at_seconds=1.0, pods={("default", name): value for name, value in pods.items()})
    wanted = Wanted(source=source, namespace="default", is_share=True)
    return assess(wanted, answer, of)


def test_demand_is_the_sum_over_the_pods_in_fully_used_pods() -> None:
    found = demand(GPU, {f"web-{n}": 0.4725 for n in range(4)}, target())
    assert found.value == pytest.approx(1.89)
    assert (found.state, found.pods_known, found.pods_expected) == (DemandState.FRESH, 4, 4)


def test_a_pod_of_two_gpus_is_used_by_half_when_one_of_them_is_busy() -> None:
    found = demand(GPU, {"web-0": 1.0}, target(1, **{"nvidia_com..gpu": 2.0}))
    assert found.value == pytest.approx(0.5)


def test_a_share_of_cpu_needs_a_request_and_says_so() -> None:
    found = demand(CPU, {"web-0": 1.0}, target(1))
    assert (found.value, found.state) == (None, DemandState.NOT_CONFIGURED)
    assert found.text == "the pods request no cpu, so its utilization is not known"
    assert demand(CPU, {"web-0": 1.0}, target(1, cpu=0.5)).value == pytest.approx(2.0)


def test_half_of_the_pods_missing_is_a_lower_bound_that_names_them() -> None:
    found = demand(GPU, {"web-0": 0.5, "web-1": 0.5}, target())
    assert (found.value, found.state) == (1.0, DemandState.PARTIAL)
    assert (found.pods_known, found.pods_expected) == (2, 4)
    assert found.text == "no sample for web-2, web-3"


def test_a_pod_that_is_not_ready_is_not_missed_and_what_it_uses_is_kept_apart() -> None:
    found = demand(GPU, {"web-0": 0.5}, target(2, ready=1))
    assert (found.state, found.unready_value) == (DemandState.FRESH, 0)
    busy = demand(GPU, {"web-0": 0.5, "web-1": 0.25}, target(2, ready=1))
    assert (busy.value, busy.unready_value, busy.state) == (0.5, 0.25, DemandState.FRESH)
    alone = demand(GPU, {"web-1": 0.25}, target(2, ready=0))
    assert (alone.value, alone.state) == (None, DemandState.EMPTY)


def test_a_mean_is_of_the_ready_pods_alone() -> None:
    found = demand(RT, {"web-0": 0.2, "web-1": 9.0}, target(2, ready=1))
    assert (found.value, found.unready_value) == (0.2, 0)


def test_not_a_number_is_unknown_and_named() -> None:
    found = demand(GPU, {"web-0": float("nan")}, target(1))
    assert (found.value, found.state) == (None, DemandState.NOT_A_NUMBER)
    assert found.text == "not a number for web-0"
    assert demand(GPU, {"web-0": float("nan"), "web-1": 0.5}, target(2)).state is (
        DemandState.PARTIAL
    )


def test_nothing_of_running_pods_is_unknown_and_never_zero() -> None:
    found = demand(GPU, {}, target())
    assert (found.value, found.state) == (None, DemandState.EMPTY)
    assert found.text == "no sample that is new enough for web-0, web-1, web-2 and 1 more"


def test_no_pods_at_zero_replicas_is_a_known_zero_and_at_more_is_not() -> None:
    assert demand(GPU, {}, target(0)).value == 0.0
    waiting = demand(GPU, {}, Target(replicas=3))
    assert (waiting.value, waiting.text) == (None, "none of 3 pods is there yet")
    assert demand(GPU, {}, None).text == "the workload is not there"


def test_several_series_of_one_pod_are_refused() -> None:
    answer = Answer(
        at_seconds=1.0,
        pods={("default", "web-0"): 1.0},
        duplicates=frozenset({("default", "web-0")}),
    )
    found = assess(Wanted(source=GPU, namespace="default", is_share=True), answer, target(1))
    assert (found.value, found.state) == (None, DemandState.SEVERAL)


def test_a_response_time_is_a_mean_over_the_pods_times_the_pods() -> None:
    found = demand(RT, {"web-0": 0.2, "web-1": 0.4}, target(2))
    assert found.value == pytest.approx(0.6)


def test_a_source_that_failed_gives_its_own_words() -> None:
    answer = Answer(at_seconds=1.0, state=DemandState.SOURCE_DOWN, text="connection refused")
    found = assess(Wanted(source=GPU, namespace="default", is_share=True), answer, target(1))
    assert (found.state, found.text) == (DemandState.SOURCE_DOWN, "connection refused")


def test_a_series_of_its_own_needs_no_pods() -> None:
    queue = SeriesSource(name="queue", expression="queue")
    wanted = Wanted(source=queue, namespace="default", is_share=False)
    assert assess(wanted, Answer(at_seconds=1.0, value=7.0), target(0)).value == 7.0
    assert assess(wanted, Answer(at_seconds=1.0), None).state is DemandState.EMPTY


def test_a_pods_metric_of_the_api_counts_the_workloads_pods_alone() -> None:
    api = ApiSource(name="rps", namespace="default", label_selector="", is_external=False)
    answer = Answer(at_seconds=1.0, pods={("default", "web-0"): 3.0, ("default", "other"): 90.0})
    found = assess(Wanted(source=api, namespace="default", is_share=False), answer, target(2))
    assert (found.value, found.state, found.text) == (
        3.0,
        DemandState.PARTIAL,
        "no sample for web-1",
    )


def test_an_amount_needs_no_request() -> None:
    assert unit_of(CPU, target(1), is_share=False) == (1.0, "")
