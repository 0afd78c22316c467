"""What the autoscaler's forecast endpoint answers: GET /v1/forecasts[/NAMESPACE/NAME]."""

import msgspec


class _Wire(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """Fields in camelCase; what a newer autoscaler adds is passed over."""


class Step(_Wire, frozen=True, kw_only=True):
    """One link of the reason chain."""

    reason: str
    text: str
    replicas: float | None = None


class Summary(_Wire, frozen=True, kw_only=True):
    """One autoscaler's newest round; demand in `unit`, a ratio where `is_utilization`."""

    namespace: str
    name: str
    metric: str
    issued_at: float
    """Unix time in seconds."""

    uid: str = ""
    unit: str = ""
    strategy: str = ""
    target: float | None = None
    is_utilization: bool = False
    lead_seconds: float = 0
    quantile: float = 0
    demand: float | None = None
    forecast_demand: float | None = None
    desired_replicas: int | None = None
    published_replicas: int | None = None
    current_replicas: int | None = None
    min_replicas: int | None = None
    max_replicas: int | None = None
    bound_path: str = ""
    time_zone: str = "UTC"
    steps: tuple[Step, ...] = ()


class Past(_Wire, frozen=True, kw_only=True):
    """`[T]` each, None where unknown; column i lies at `start_seconds + i * step_seconds`."""

    start_seconds: float
    step_seconds: float
    demand: tuple[float | None, ...]
    predicted: tuple[float | None, ...]
    pods: tuple[float | None, ...]
    predicted_pods: tuple[float | None, ...]

    def __post_init__(self) -> None:
        _check(self.step_seconds, self.demand, self.predicted, self.pods, self.predicted_pods)


class Ahead(_Wire, frozen=True, kw_only=True):
    """`[H]` each: the band of the hours to come."""

    start_seconds: float
    step_seconds: float
    median: tuple[float | None, ...]
    upper: tuple[float | None, ...]
    pods: tuple[float | None, ...]

    def __post_init__(self) -> None:
        _check(self.step_seconds, self.median, self.upper, self.pods)


class Verdict(_Wire, frozen=True, kw_only=True):
    """Whether the season is used, and why or why not."""

    is_seasonal_in_use: bool
    reasons: tuple[str, ...] = ()
    texts: tuple[str, ...] = ()
    periods_seconds: tuple[float, ...] = ()
    span_seconds: float = 0
    known_ratio: float | None = None
    coverage_ratio: float | None = None
    pinball_loss_ratio: float | None = None


class Detail(Summary, frozen=True, kw_only=True):
    """Everything that the observer's page shows."""

    past: Past
    ahead: Ahead | None = None
    verdict: Verdict | None = None
    history_text: str = ""


class SummaryList(msgspec.Struct, frozen=True):
    """Answer of GET /v1/forecasts."""

    items: tuple[Summary, ...]


def _check(step_seconds: float, *columns: tuple[float | None, ...]) -> None:
    if step_seconds <= 0:
        raise ValueError("stepSeconds must be above 0")
    if len({len(one) for one in columns}) != 1:
        raise ValueError(f"columns of different lengths: {[len(one) for one in columns]}")
