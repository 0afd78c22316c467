"""What a person may choose about a backtest; every default is the one that the docs explain."""

from dataclasses import dataclass
from enum import StrEnum
from typing import Annotated

from cyclopts import Parameter

from gputide.backtest.model import PolicyName
from gputide.errors import SettingError
from gputide.forecast.model import parse_quantile

MIN_BUDGET_RATIO = 1e-5


class Metric(StrEnum):
    """What every policy scales on: both sides of a comparison see the same."""

    UTILIZATION = "utilization"
    """How busy the ready pods are: blind above 100 %, as GPU utilization is."""

    DEMAND = "demand"
    """The load itself, as requests in flight or per second are."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BacktestSettings:
    """How history is replayed and by what the policies are judged."""

    history_days: int = 7
    """Days before the evaluated span: what a forecast must have seen."""

    evaluated_days: int = 21
    """At most so many of the newest days are evaluated, as far as the history leaves them."""

    tuning_days: int = 10
    """Each day a tuned policy takes its knobs from a replay of at most so many days before it."""

    harm_budget_ratio: Annotated[
        float, Parameter(name=["--harm-budget-ratio", "--harm-budget"])
    ] = 0.001
    """Share of the minutes that a tuned policy may leave saturated."""

    is_late_budgeted: Annotated[bool, Parameter(name="--budget-late-demand")] = False
    """Whether late demand must keep within the same budget, beside saturated minutes."""

    quantile: float = 0.998
    """Quantile of the untuned gputide policies; 99.8 is taken too."""

    target_ratio: Annotated[float, Parameter(name=["--target-ratio", "--target"])] = 0.7
    """Target of the plain HPA and of gputide with one target."""

    proactive_target_ratio: float = 0.9
    """Share of a pod that the forecast may fill, of gputide with two targets."""

    net_target_ratio: float = 0.8
    """Target of the reactive net under the forecast."""

    metric: Metric = Metric.UTILIZATION
    """What every policy scales on: how busy the ready pods are, or the demand itself."""

    policies: Annotated[
        tuple[PolicyName, ...], Parameter(consume_multiple=True, show_default=False)
    ] = tuple(PolicyName)
    """Contestants; all unless given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "quantile", parse_quantile(self.quantile))
        for name in ("history_days", "evaluated_days", "tuning_days"):
            if getattr(self, name) < 1:
                raise SettingError(name.replace("_", "-"), "must be at least 1")
        if not MIN_BUDGET_RATIO <= self.harm_budget_ratio < 1:
            problem = f"must be at least {MIN_BUDGET_RATIO:g} and below 1"
            raise SettingError("harm-budget-ratio", problem)
        for name in ("target_ratio", "proactive_target_ratio", "net_target_ratio"):
            if not 0 < getattr(self, name) <= 1:
                raise SettingError(name.replace("_", "-"), "must be above 0 and at most 1")
        if not self.policies:
            raise SettingError("policies", "name at least one")
