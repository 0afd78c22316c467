"""Names of the metrics API's own metrics, as data: name, kind, help."""

from gputide.exposition import Kind
from gputide.exposition.rows import MetricRow

_P = "gputide_metricsapi_"

BUILD = MetricRow(f"{_P}build_info", Kind.GAUGE, "Version of this server.")
REQUESTS = MetricRow(f"{_P}requests_total", Kind.COUNTER, "Requests by API group and HTTP code.")
SECONDS = MetricRow(
    f"{_P}request_duration_seconds", Kind.HISTOGRAM, "Time to answer, by API group."
)
QUESTIONS = MetricRow(
    f"{_P}questions_total", Kind.COUNTER, "Values asked for, cached answers included, by kind."
)
PASSED_ON = MetricRow(
    f"{_P}questions_passed_on_total",
    Kind.COUNTER,
    "Values asked for that no cache held and nobody else was asking, by kind.",
)
QUERIES = MetricRow(f"{_P}prometheus_queries_total", Kind.COUNTER, "Questions put to Prometheus.")
QUERY_FAILURES = MetricRow(
    f"{_P}prometheus_query_failures_total", Kind.COUNTER, "Those that had no answer."
)
RULES = MetricRow(f"{_P}rules", Kind.GAUGE, "Rules in use, by section of the file.")
RULES_LOADED = MetricRow(
    f"{_P}rules_last_reload_successful", Kind.GAUGE, "Whether the newest rules file is in use."
)
RELOADS = MetricRow(f"{_P}rules_reloads_total", Kind.COUNTER, "Rules files taken up.")
RELOAD_FAILURES = MetricRow(
    f"{_P}rules_reload_failures_total", Kind.COUNTER, "Rules files that could not be used."
)
FORECAST_FAILURES = MetricRow(
    f"{_P}forecast_failures_total", Kind.COUNTER, "Questions that an autoscaler did not answer."
)
FORWARD_UP = MetricRow(
    f"{_P}forward_up", Kind.GAUGE, "Whether the second external-metrics server was discovered."
)
CERTIFICATE = MetricRow(
    f"{_P}certificate_expiry_timestamp_seconds",
    Kind.GAUGE,
    "Unix time when the serving certificate ends.",
)
