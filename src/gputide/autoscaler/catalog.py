"""Names of the controller's metrics, as data: the vendor's six, and our own."""

from gputide.exposition import Kind
from gputide.exposition.rows import MetricRow

PROACTIVE = MetricRow("ahpa_proactive_pods", Kind.GAUGE, "Pods that the forecast asks for.")
REACTIVE = MetricRow("ahpa_reactive_pods", Kind.GAUGE, "Pods that the demand asks for.")
REQUESTED = MetricRow(
    "ahpa_requested_pods", Kind.GAUGE, "Pods that should run, by forecast, demand and bounds."
)
MAXIMUM = MetricRow("ahpa_max_pods", Kind.GAUGE, "Most pods by the bound in force.")
MINIMUM = MetricRow("ahpa_min_pods", Kind.GAUGE, "Fewest pods by the bound in force.")
TARGET = MetricRow("ahpa_target_metric", Kind.GAUGE, "Target of the first metric.")

_P = "gputide_autoscaler_"
BUILD = MetricRow(f"{_P}build_info", Kind.GAUGE, "Version of this controller.")
LEADER = MetricRow(f"{_P}leader", Kind.GAUGE, "Whether this replica writes.")
MEMBERS = MetricRow(f"{_P}members", Kind.GAUGE, "Replicas that share the autoscalers.")
OBJECTS = MetricRow(f"{_P}objects", Kind.GAUGE, "Autoscalers by what is known of their demand.")
DEMAND = MetricRow(f"{_P}demand", Kind.GAUGE, "Newest demand, the sum over the pods.")
FORECAST = MetricRow(f"{_P}forecast_demand", Kind.GAUGE, "Upper value of demand over the lead.")
CURRENT = MetricRow(f"{_P}current_replicas", Kind.GAUGE, "Replicas that the workload asks for.")
COVERAGE = MetricRow(
    f"{_P}forecast_coverage_ratio", Kind.GAUGE, "Share of the last day's bounds that held."
)
ROUNDS = MetricRow(f"{_P}rounds_total", Kind.COUNTER, "Rounds by outcome.")
ROUND_SECONDS = MetricRow(f"{_P}round_seconds", Kind.GAUGE, "How long the newest round took.")
WRITES = MetricRow(f"{_P}writes_total", Kind.COUNTER, "Writes to the API server by outcome.")
QUERIES = MetricRow(f"{_P}queries_total", Kind.COUNTER, "Queries to Prometheus by outcome.")
LOADED = MetricRow(f"{_P}histories_loaded", Kind.GAUGE, "Workloads whose history was read.")
FITTED = MetricRow(f"{_P}forecasts_fitted_total", Kind.COUNTER, "Forecasts that were fitted.")
HISTORY_BYTES = MetricRow(f"{_P}history_bytes", Kind.GAUGE, "Memory of the histories.")
