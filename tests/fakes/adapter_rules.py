"""Rules in prometheus-adapter's grammar, and the history that they are about."""

from collections.abc import Sequence

from fakes.prometheus_server import RecordedSeries

RULES = """
rules:
  - seriesQuery: 'DCGM_FI_DEV_GPU_UTIL{namespace!="",pod!=""}'
    resources:
      overrides:
        namespace: {resource: namespace}
        pod: {resource: pod}
    name: {as: gpu_util}
    metricsQuery: 'avg(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'
  - seriesQuery: '{__name__=~"^kube_.*_power$"}'
    resources: {template: "kube_<<.Group>>_<<.Resource>>"}
    name: {matches: "^kube_(.*)$"}
    metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'
externalRules:
  - seriesQuery: 'http_requests_total{namespace!=""}'
    seriesFilters: [{isNot: "_debug$"}]
    resources: {overrides: {namespace: {resource: namespace}}}
    name: {matches: "^(.*)_total$", as: "${1}_per_second"}
    metricsQuery: 'sum(rate(<<.Series>>{<<.LabelMatchers>>}[2m])) by (model)'
  - seriesQuery: 'queue_length'
    resources: {namespaced: false}
    metricsQuery: '<<.Series>>{<<.LabelMatchers>>}'
  - seriesQuery: 'queue_length'
    resources: {namespaced: false}
    name: {as: queue_scalar}
    metricsQuery: 'scalar(<<.Series>>{queue="a"})'
  - seriesQuery: 'jobs_total'
    resources: {namespaced: false}
    name: {matches: "^(.*)_total$", as: "$1"}
    metricsQuery: 'sum(increase(<<.Series>>{<<.LabelMatchers>>}[30m])) by (kind)'
"""


def history(now_seconds: float) -> Sequence[RecordedSeries]:
    """Return ten minutes of samples whose newest lies 15 s before now."""
    start = now_seconds - 15 - 600

    def series(name: str, values: Sequence[float], **labels: str) -> RecordedSeries:
        return RecordedSeries(name, labels, start_seconds=start, values=values)

    def flat(value: float) -> list[float]:
        return [value] * 11

    gpu = "DCGM_FI_DEV_GPU_UTIL"
    counter = [600.0 * index for index in range(11)]
    return [
        series(gpu, flat(63.5), namespace="default", pod="bert-0", gpu="0"),
        series(gpu, flat(20.5), namespace="default", pod="bert-1", gpu="0"),
        series(gpu, flat(40.5), namespace="default", pod="bert-1", gpu="1"),
        series(gpu, flat(float("nan")), namespace="default", pod="bert-2", gpu="0"),
        series(gpu, flat(99), namespace="other", pod="bert-0", gpu="0"),
        series("kube_node_power", flat(2000), kube__node="gpu-1"),
        series("kube_web_power", flat(300), kube__namespace="default", kube_apps_deployment="web"),
        series("http_requests_total", counter, namespace="default", model="bert"),
        series("http_requests_total", counter, namespace="default", model="gpt"),
        series("http_requests_total", counter, namespace="other", model="bert"),
        series("http_requests_total_debug", flat(1), namespace="default"),
        series("jobs_total", counter, kind="going"),
        RecordedSeries("jobs_total", {"kind": "ended"}, start_seconds=start - 900, values=counter),
        series("queue_length", flat(float("inf")), queue="broken"),
        series("queue_length", flat(189), queue="a"),
        series("queue_length", flat(0.033), queue="b"),
    ]
