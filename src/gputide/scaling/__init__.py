"""How many replicas to run, and why. Pure: no clock, no I/O.

`decide(policies, situation, memory)` is the one decision for controller, backtest and standalone;
it takes and returns arrays over N rows. `read_autoscaler` makes a policy and its bounds from the
vendor's object.
"""

from gputide.scaling.bounds import Bound, BoundInForce, Bounds, BoundsCondition, Window
from gputide.scaling.cron import CronMask
from gputide.scaling.decide import decide
from gputide.scaling.fields import MetricKind, TargetKind
from gputide.scaling.hpa import PodUsage
from gputide.scaling.memory import Memory
from gputide.scaling.model import REASONS, Decisions, Reason, Situation, Step
from gputide.scaling.policies import Policies
from gputide.scaling.policy import (
    HPA_DOWN,
    HPA_TOLERANCE_RATIO,
    HPA_UP,
    Direction,
    Limit,
    LimitKind,
    Policy,
    Select,
    Strategy,
)
from gputide.scaling.resource import Autoscaler, MetricTarget, TargetRef, read_autoscaler
from gputide.scaling.zone import zone_named

__all__ = [
    "HPA_DOWN",
    "HPA_TOLERANCE_RATIO",
    "HPA_UP",
    "REASONS",
    "Autoscaler",
    "Bound",
    "BoundInForce",
    "Bounds",
    "BoundsCondition",
    "CronMask",
    "Decisions",
    "Direction",
    "Limit",
    "LimitKind",
    "Memory",
    "MetricKind",
    "MetricTarget",
    "PodUsage",
    "Policies",
    "Policy",
    "Reason",
    "Select",
    "Situation",
    "Step",
    "Strategy",
    "TargetKind",
    "TargetRef",
    "Window",
    "decide",
    "read_autoscaler",
    "zone_named",
]
