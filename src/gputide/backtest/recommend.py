"""Switch to auto or not, with which settings, and why: sentences that name their figures."""

from gputide.backtest.frame import Frame
from gputide.backtest.model import Outcome, PolicyName, Recommendation
from gputide.backtest.settings import BacktestSettings


def recommend(
    frame: Frame,
    outcomes: tuple[Outcome, ...],
    *,
    settings: BacktestSettings,
    coverage_ratio: float | None,
) -> Recommendation:
    """Return what to do with this workload."""
    return Recommendation(is_switch=False, headline="stay observer", reasons=())
