"""What is worth an event: changes alone. Pure."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from gputide.autoscaler.model import Outcome

NORMAL, WARNING = "Normal", "Warning"
MAX_NOTE = 1000

# condition -> (reason of the event when it turns false, when it turns true); "" for none
_TOLD: Mapping[str, tuple[str, str]] = {
    "SpecValid": ("SpecInvalid", ""),
    "AbleToScale": ("CannotScale", "CanScaleAgain"),
    "DemandKnown": ("DemandUnknown", "DemandKnown"),
    "ForecastReady": ("ForecastLost", "ForecastReady"),
    "BoundsInForce": ("BoundsNotInForce", ""),
}


@dataclass(frozen=True, slots=True)
class Note:
    """An event to be."""

    type: str
    reason: str
    text: str


def notes_of(before: Mapping[str, Any], after: Mapping[str, Any]) -> Iterator[Note]:
    """Yield what changed between two status objects that a person should hear of."""
    old = _states(before)
    for name, (state, text) in _states(after).items():
        if name not in _TOLD or old.get(name, ("", ""))[0] == state:
            continue
        lost, found = _TOLD[name]
        is_first = name not in old
        if state == "False" and lost and not (is_first and name == "ForecastReady"):
            yield Note(WARNING, lost, text or name)
        elif state == "True" and found and not is_first:
            yield Note(NORMAL, found, text or name)


def scaled_note(outcome: Outcome, reason: str) -> Note:
    """Return the event of a write that went through; `reason` is the whole chain."""
    text = f"scaled {outcome.current_replicas} -> {outcome.desired_replicas}: {reason}"
    return Note(NORMAL, "SuccessfulRescale", text[:MAX_NOTE])


def failed_note(outcome: Outcome, problem: str) -> Note:
    """Return the event of a write that failed."""
    return Note(WARNING, "FailedRescale", f"to {outcome.desired_replicas}: {problem}"[:MAX_NOTE])


def moved_note(expected: int, found: int) -> Note:
    """Return the event of a workload that somebody else scaled."""
    text = f"replicas are {found}, not {expected} as written here: somebody else scaled"
    return Note(WARNING, "ScaledByOthers", text)


def _states(status: Mapping[str, Any]) -> dict[str, tuple[str, str]]:
    return {
        str(one.get("type")): (str(one.get("status")), str(one.get("message") or ""))
        for one in status.get("conditions") or ()
    }
