"""One contestant: a policy with one setting of its knobs, ready to be replayed."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from gputide.backtest.model import PolicyName, Workload
from gputide.backtest.settings import Metric
from gputide.backtest.simulate import Row
from gputide.scaling import HPA_DOWN, HPA_UP, Direction, Policy, Strategy

HPA_TOLERANCE_RATIO = 0.1
DEAD_BAND_RATIO = 0.1
HPA_STABILIZATION_SECONDS = 300.0
NO_SERIES = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Contestant:
    """A policy and one setting of its knobs."""

    policy: PolicyName
    knobs: dict[str, float] = field(default_factory=dict)
    rule: Policy
    series: str = NO_SERIES
    """Name of the forecast that it reads."""

    fixed_replicas: float | None = None
    """Runs this many whatever happens."""

    @property
    def identity(self) -> tuple[Policy, str, float | None]:
        """What makes two settings behave the same."""
        return self.rule, self.series, self.fixed_replicas


def row_of(
    contestant: Contestant,
    *,
    load: int,
    series: Mapping[str, int],
    workload: Workload,
    metric: Metric,
) -> Row:
    """Return the row that replays a contestant; a series that is not there says nothing."""
    size = contestant.fixed_replicas
    return Row(
        rule=contestant.rule,
        load=load,
        series=series.get(contestant.series),
        uses_demand=metric is Metric.DEMAND,
        min_replicas=max(workload.min_replicas, 1) if size is None else size,
        max_replicas=workload.max_replicas if size is None else size,
        has_windows=size is None,
    )


def down(stabilization_seconds: float) -> Direction:
    """Return Kubernetes' default way down with another window."""
    return Direction(stabilization_seconds=stabilization_seconds, limits=HPA_DOWN.limits)


def hpa(
    target_ratio: float, *, stabilization_seconds: float = HPA_STABILIZATION_SECONDS
) -> Contestant:
    """Return Kubernetes' HPA v2 with its defaults."""
    rule = Policy(
        strategy=Strategy.REACTIVE,
        proactive_target=target_ratio,
        reactive_target=target_ratio,
        tolerance_up_ratio=HPA_TOLERANCE_RATIO,
        tolerance_down_ratio=HPA_TOLERANCE_RATIO,
        up=HPA_UP,
        down=down(stabilization_seconds),
        recovery_grace_seconds=0,
    )
    knobs = {"target_ratio": target_ratio, "stabilization_seconds": stabilization_seconds}
    return Contestant(policy=PolicyName.HPA, knobs=knobs, rule=rule)


def fixed(replicas: float) -> Contestant:
    """Return a fixed size."""
    rule = Policy(strategy=Strategy.REACTIVE, proactive_target=1, reactive_target=1)
    return Contestant(
        policy=PolicyName.FIXED,
        knobs={"replicas": replicas},
        rule=rule,
        fixed_replicas=replicas,
    )


def oracle(series: str) -> Contestant:
    """Return who knows the demand of the start delay to come, and runs exactly that."""
    rule = Policy(
        strategy=Strategy.PROACTIVE,
        proactive_target=1,
        reactive_target=1,
        up=Direction(),
        down=Direction(),
        recovery_grace_seconds=0,
    )
    return Contestant(policy=PolicyName.ORACLE, rule=rule, series=series)


def repeat(policy: PolicyName, series: str, *, target_ratio: float) -> Contestant:
    """Return who runs what an earlier day needed, whatever today does."""
    rule = Policy(
        strategy=Strategy.PROACTIVE,
        proactive_target=target_ratio,
        reactive_target=target_ratio,
        up=HPA_UP,
        down=down(HPA_STABILIZATION_SECONDS),
        recovery_grace_seconds=0,
    )
    return Contestant(policy=policy, knobs={"target_ratio": target_ratio}, rule=rule, series=series)


def crane(series: str, *, target_ratio: float) -> Contestant:
    """Return the style of crane: an HPA on the larger of metric and prediction, one target."""
    rule = Policy(
        strategy=Strategy.AUTO,
        proactive_target=target_ratio,
        reactive_target=target_ratio,
        tolerance_up_ratio=HPA_TOLERANCE_RATIO,
        tolerance_down_ratio=HPA_TOLERANCE_RATIO,
        up=HPA_UP,
        down=down(HPA_STABILIZATION_SECONDS),
        recovery_grace_seconds=0,
    )
    return Contestant(
        policy=PolicyName.CRANE, knobs={"target_ratio": target_ratio}, rule=rule, series=series
    )


def one_target(series: str, *, quantile: float, target_ratio: float) -> Contestant:
    """Return gputide's auto with the vendor's YAML as it is: one target for forecast and HPA."""
    rule = Policy(
        strategy=Strategy.AUTO,
        proactive_target=target_ratio,
        reactive_target=target_ratio,
        tolerance_up_ratio=HPA_TOLERANCE_RATIO,
        tolerance_down_ratio=HPA_TOLERANCE_RATIO,
        up=HPA_UP,
        down=down(HPA_STABILIZATION_SECONDS),
    )
    knobs = {"quantile": quantile, "target_ratio": target_ratio}
    return Contestant(policy=PolicyName.GPUTIDE_ONE_TARGET, knobs=knobs, rule=rule, series=series)


def two_targets(
    series: str,
    *,
    quantile: float,
    proactive_target_ratio: float,
    net_target_ratio: float,
    stabilization_seconds: float = HPA_STABILIZATION_SECONDS,
) -> Contestant:
    """Return gputide's auto with a high target for the forecast and a net just under capacity."""
    rule = Policy(
        strategy=Strategy.AUTO,
        proactive_target=proactive_target_ratio,
        reactive_target=net_target_ratio,
        up=HPA_UP,
        down=down(stabilization_seconds),
        dead_band_ratio=DEAD_BAND_RATIO,
    )
    knobs = {
        "quantile": quantile,
        "proactive_target_ratio": proactive_target_ratio,
        "net_target_ratio": net_target_ratio,
        "stabilization_seconds": stabilization_seconds,
    }
    return Contestant(policy=PolicyName.GPUTIDE, knobs=knobs, rule=rule, series=series)
