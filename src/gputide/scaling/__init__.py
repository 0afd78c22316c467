"""How many replicas to run, and why. Pure: no clock, no I/O.

`decide(policies, situation, memory)` is the one decision for controller, backtest and standalone;
it takes and returns arrays over N rows.
"""

from gputide.scaling.decide import decide
from gputide.scaling.hpa import PodUsage
from gputide.scaling.memory import Memory
from gputide.scaling.model import REASONS, Decisions, Reason, Situation, Step
from gputide.scaling.policies import Policies
from gputide.scaling.policy import (
    HPA_DOWN,
    HPA_UP,
    Direction,
    Limit,
    LimitKind,
    Policy,
    Select,
    Strategy,
)

__all__ = [
    "HPA_DOWN",
    "HPA_UP",
    "REASONS",
    "Decisions",
    "Direction",
    "Limit",
    "LimitKind",
    "Memory",
    "PodUsage",
    "Policies",
    "Policy",
    "Reason",
    "Select",
    "Situation",
    "Step",
    "Strategy",
    "decide",
]
