"""What a person sets for the controller."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gputide.durations import parse_span
from gputide.errors import SettingError

MAX_HISTORY_DAYS = 14


@dataclass(frozen=True, slots=True, kw_only=True)
class EngineSettings:
    """How the engine reads and remembers."""

    history_days: int = 7
    """Days of demand kept by the minute; 14 know weekends, and take twice the memory."""

    max_sample_age_seconds: float = 90.0
    """Demand from older samples is not used."""

    rate_window_seconds: int = 120
    """Window of rates in queries."""

    period_seconds: float = 15.0
    """Time between rounds; much longer without one is a gap, in which nobody looked."""

    def __post_init__(self) -> None:
        if not 1 <= self.history_days <= MAX_HISTORY_DAYS:
            raise SettingError("history-days", f"must be 1 to {MAX_HISTORY_DAYS}")
        if not 5 <= self.max_sample_age_seconds <= 300:
            # Prometheus itself looks no further back than 5 minutes
            raise SettingError("max-sample-age", "must be 5 to 300 seconds")
        if not 15 <= self.rate_window_seconds <= 3600:
            raise SettingError("rate-window", "must be 15 to 3600 seconds")

    @property
    def history_minutes(self) -> int:
        """Minutes kept."""
        return self.history_days * 1440


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class AutoscalerSettings:
    """Which cluster, how often, and what is told to whom."""

    kubeconfig: str = ""
    """Path of a kubeconfig; the pod's service account if not given."""

    context: str = ""
    """Context of the kubeconfig; its current one if not given."""

    namespace: str = ""
    """Look at this namespace alone; all if not given."""

    period: str = "15s"
    """Time between rounds."""

    time_zone: str = "UTC"
    """IANA zone of autoscalers that name none."""

    query: tuple[str, ...] = ()
    """PromQL for a metric: NAME=EXPRESSION. For Resource metrics it keeps the labels namespace and
    pod; for External and Pods metrics $namespace, $workload, $pods, $window are filled in."""

    history_days: int = 7
    """Days of demand kept by the minute, up to 14."""

    max_sample_age: str = "90s"
    """Demand from older samples is not used."""

    rate_window: str = "2m"
    """Window of rates in queries."""

    state_dir: Path | None = None
    """Directory for what outlives a restart; without one, scale-in waits after each start."""

    listen_address: str = "127.0.0.1:8090"
    """Metrics, health and forecasts: HOST:PORT. Beyond this machine it needs --token-file."""

    token_file: Path | None = None
    """File with the bearer token that forecasts are handed out for."""

    leader_elect: Annotated[bool, Parameter(negative="--no-leader-elect")] = True
    """Only the holder of the Lease writes; --no-leader-elect for a single replica."""

    shards: Annotated[bool, Parameter(negative="--no-shards")] = False
    """Share the autoscalers among the replicas that run, each by a Lease, instead of one leader."""

    lease_namespace: str = "gputide-system"
    """Namespace of the Leases."""

    log_format: Literal["text", "json"] = "text"
    """The log on standard error: a line an event, as logfmt or JSON."""

    def __post_init__(self) -> None:
        _ = self.engine, self.period_seconds, self.queries
        if self.shards and not self.leader_elect:
            raise SettingError("shards", "take part in the election: leave out --no-leader-elect")
        host = self.listen_address.rpartition(":")[0].strip("[]")
        if host not in ("127.0.0.1", "localhost", "::1") and self.token_file is None:
            raise SettingError(
                "token-file", f"is needed to serve forecasts on {self.listen_address}"
            )

    @property
    def period_seconds(self) -> float:
        """Time between rounds."""
        seconds = parse_span(self.period, setting="period")
        if not 1 <= seconds <= 300:
            raise SettingError("period", "must be 1s to 5m")
        return seconds

    @property
    def engine(self) -> EngineSettings:
        """What the engine is set to."""
        return EngineSettings(
            history_days=self.history_days,
            max_sample_age_seconds=parse_span(self.max_sample_age, setting="max-sample-age"),
            rate_window_seconds=round(parse_span(self.rate_window, setting="rate-window")),
            period_seconds=self.period_seconds,
        )

    @property
    def queries(self) -> dict[str, str]:
        """PromQL by metric name."""
        found = {}
        for text in self.query:
            name, separator, expression = text.partition("=")
            if not separator or not name.strip() or not expression.strip():
                raise SettingError("query", f"{text!r} is no NAME=EXPRESSION")
            found[name.strip()] = expression.strip()
        return found
