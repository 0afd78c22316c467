"""The GPU tutorial, step by step, with the commands that it prints."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.browser import chromium, opened
from fakes.gpu_page import GpuPage
from fakes.gputide_processes import metrics_api, start_autoscaler
from fakes.kubectl import Kubectl
from fakes.kubelet import Kubelet
from fakes.programs import Programs, wait_until
from fakes.prometheus_server import PrometheusServer
from fakes.shared import TUTORIALS

HEADER = [
    *("NAME", "STRATEGY", "REFERENCE", "METRIC", "TARGET(%)", "CURRENT(%)"),
    *("DESIREDPODS", "REPLICAS", "MINPODS", "MAXPODS", "AGE"),
]
WORKLOAD = "bert-intent-detection"
IN_THE_WINDOW = datetime(2022, 11, 8, 10, tzinfo=UTC)  # a Tuesday, between 9 and 16 o'clock
NEEDS_MANIFESTS = pytest.mark.skipif(not TUTORIALS.exists(), reason=f"no folder {TUTORIALS}")
OBSERVER_LINE = (
    "kubectl get --raw '/apis/metrics.alibabacloud.com/v1beta1/namespaces/default/"
    "predictionsobserver/fib-gpu'|jq -r '.content' |base64 -d > observer.html"
)
DEPLOYMENT = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: bert-intent-detection}
spec:
  replicas: 1
  selector: {matchLabels: {app: bert-intent-detection}}
  template:
    metadata: {labels: {app: bert-intent-detection}}
    spec:
      containers:
        - {name: bert, image: "bert:1", resources: {limits: {nvidia.com/gpu: "1"}}}
"""


def row(kubectl: Kubectl) -> list[str]:
    """Return the header and the row of `kubectl get ahpa`; the age is left out."""
    header, values = (line.split() for line in kubectl("get", "ahpa").splitlines())
    assert header == HEADER
    return values[:-1]


def give_load(gpus: GpuPage, nodes: Kubelet, kubectl: Kubectl, percent: float) -> None:
    """Wait until the pods that are wanted are ready, and share a load among them."""
    wanted = kubectl.json("get", "deployment", WORKLOAD)["spec"]["replicas"]
    wait_until("they are ready", lambda: len(nodes.ready_pods(app=WORKLOAD)) == wanted)
    pods = nodes.ready_pods(app=WORKLOAD)
    gpus.percent = {("default", pod): percent / len(pods) for pod in pods}


@pytest.mark.shared
@NEEDS_MANIFESTS
def test_the_table_shows_the_tutorials_two_rows(
    ahpa: Kubectl, nodes: Kubelet, gpus: GpuPage, prometheus: PrometheusServer, programs: Programs
) -> None:
    for name in ("application-intelligence", "bert-intent-detection", "fib-gpu", "fib-loader"):
        ahpa("apply", "-f", str(TUTORIALS / f"{name}.yaml"))
    give_load(gpus, nodes, ahpa, 0)
    start_autoscaler(programs, ahpa.kubeconfig, prometheus.url, at=IN_THE_WINDOW)
    first = ["fib-gpu", "observer", WORKLOAD, "gpu", "20", "0", "0", "1", "10", "50"]
    wait_for_row(ahpa, first)

    ahpa("scale", f"deployment/{WORKLOAD}", "--replicas=4")
    give_load(gpus, nodes, ahpa, 189)
    wait_for_row(ahpa, [*first[:5], "189", "10", "4", "10", "50"])
    assert ahpa.json("get", "deployment", WORKLOAD)["spec"]["replicas"] == 4  # an observer


def test_a_window_that_has_ended_is_said_and_the_wide_bounds_hold(
    ahpa: Kubectl, nodes: Kubelet, gpus: GpuPage, prometheus: PrometheusServer, programs: Programs
) -> None:
    ahpa("apply", "-f", "-", stdin=f"{DEPLOYMENT}---\n{ahpa_yaml()}")
    give_load(gpus, nodes, ahpa, 40)
    start_autoscaler(programs, ahpa.kubeconfig, prometheus.url)
    wait_until("today's bounds are shown", lambda: row(ahpa)[8:] == ["0", "100"])

    said = ahpa("describe", "ahpa", "fib-gpu")
    assert "BoundsInForce" in said
    assert "spec.instanceBounds[0]" in said
    assert "2022-12-16" in said


def test_auto_scales_the_deployment_and_its_pods_become_ready(
    ahpa: Kubectl, nodes: Kubelet, gpus: GpuPage, prometheus: PrometheusServer, programs: Programs
) -> None:
    ahpa("apply", "-f", "-", stdin=f"{DEPLOYMENT}---\n{ahpa_yaml()}")
    give_load(gpus, nodes, ahpa, 60)
    start_autoscaler(programs, ahpa.kubeconfig, prometheus.url, at=IN_THE_WINDOW)
    wait_until("the observer tells", lambda: row(ahpa)[5:8] == ["60", "3", "1"])
    ahpa("patch", "ahpa", "fib-gpu", "--type=merge", "-p", '{"spec": {"scaleStrategy": "auto"}}')

    wait_until("the bound's ten are ready", lambda: len(nodes.ready_pods(app=WORKLOAD)) == 10)
    wait_until("it is shown", lambda: row(ahpa)[1] == "auto" and row(ahpa)[7] == "10")
    assert "SuccessfulRescale" in ahpa("describe", "ahpa", "fib-gpu")


def test_the_observers_page_comes_by_the_line_of_the_tutorial_and_shows_both_charts(
    ahpa: Kubectl,
    nodes: Kubelet,
    gpus: GpuPage,
    prometheus: PrometheusServer,
    programs: Programs,
    tmp_path: Path,
) -> None:
    ahpa("apply", "-f", "-", stdin=f"{DEPLOYMENT}---\n{ahpa_yaml()}")
    give_load(gpus, nodes, ahpa, 60)
    autoscaler = start_autoscaler(programs, ahpa.kubeconfig, prometheus.url)
    wait_until("the week is known", lambda: "ForecastReady" in _true_conditions(ahpa))
    with metrics_api(programs, ahpa, "--forecast-url", autoscaler.url):
        ahpa.shell(OBSERVER_LINE, tmp_path)

    with chromium() as browser, opened(browser, tmp_path / "observer.html") as found:
        found.draw_all()
        titles = found.page.locator(".chart-title").all_inner_texts()
        assert titles[:2] == ["Predict GPU Resource Observer", "Predict POD Observer"]
        assert found.page.locator(".plot canvas").count() == 2
        assert found.complaints == []


def _true_conditions(kubectl: Kubectl) -> set[str]:
    found = kubectl.json("get", "ahpa", "fib-gpu").get("status", {}).get("conditions", ())
    return {one["type"] for one in found if one["status"] == "True"}


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (("scaleStrategy: observer", "scaleStrategy: sometimes"), "spec.scaleStrategy"),
        (("averageUtilization: 20", "averageUtilization: 0"), "averageUtilization"),
        (("maxReplicas: 100", "maxReplica: 100"), 'unknown field "spec.maxReplica"'),
        (("name: bert-intent-detection", "nam: x"), "scaleTargetRef"),
    ],
    ids=lambda value: value[1] if isinstance(value, tuple) else None,
)
def test_a_wrong_spec_is_refused_naming_what_is_wrong(
    ahpa: Kubectl, change: tuple[str, str], complaint: str
) -> None:
    said = ahpa.fails("apply", "-f", "-", stdin=ahpa_yaml(change))

    assert complaint in said
    assert ahpa("get", "ahpa", "-o", "name") == ""


@pytest.mark.usefixtures("rules")
def test_bounds_that_cross_are_refused(ahpa: Kubectl) -> None:
    wrong = ahpa_yaml(("minReplicas: 0", "minReplicas: 500"))

    assert "minReplicas must not be above maxReplicas" in ahpa.fails(
        "apply", "-f", "-", stdin=wrong
    )


def test_a_schedule_that_cannot_be_read_is_a_condition_and_an_event(
    ahpa: Kubectl, prometheus: PrometheusServer, programs: Programs
) -> None:
    wrong = ahpa_yaml(("* 9-15 ? * MON-FRI", "* 9-35 ? * MON-FRI"))
    ahpa("apply", "-f", "-", stdin=wrong)
    start_autoscaler(programs, ahpa.kubeconfig, prometheus.url)

    wait_until("it is described", lambda: "9-35" in ahpa("describe", "ahpa", "fib-gpu"))
    said = ahpa("describe", "ahpa", "fib-gpu")
    assert "SpecInvalid" in said
    assert "spec.instanceBounds[0].bounds[1].cron" in said


def wait_for_row(kubectl: Kubectl, wanted: list[str]) -> None:
    """Wait until the table shows it; the last row seen is in the complaint."""
    seen: list[str] = []

    def is_shown() -> bool:
        seen[:] = row(kubectl)
        return seen == wanted

    try:
        wait_until(f"the row is {wanted}", is_shown, timeout_seconds=60)
    except AssertionError as error:
        raise AssertionError(f"{error}; seen last: {seen}") from None
