from typing import Any

from gputide.autoscaler.status.events import Note, moved_note, notes_of


def status(**conditions: str) -> dict[str, Any]:
    return {
        "conditions": [
            {"type": name, "status": state, "message": f"about {name}"}
            for name, state in conditions.items()
        ]
    }


def test_only_changes_are_told() -> None:
    before = status(DemandKnown="True", AbleToScale="True")
    assert list(notes_of(before, before)) == []
    after = status(DemandKnown="False", AbleToScale="True")
    assert list(notes_of(before, after)) == [Note("Warning", "DemandUnknown", "about DemandKnown")]
    assert list(notes_of(after, before)) == [Note("Normal", "DemandKnown", "about DemandKnown")]


def test_what_is_well_from_the_start_is_not_told_and_what_is_not_is() -> None:
    first = status(DemandKnown="True", ForecastReady="False", BoundsInForce="False")
    assert list(notes_of({}, first)) == [Note("Warning", "BoundsNotInForce", "about BoundsInForce")]


def test_conditions_that_change_all_the_time_are_not_told() -> None:
    assert list(notes_of(status(ScalingLimited="True"), status(ScalingLimited="False"))) == []


def test_a_workload_that_somebody_else_scaled_is_told() -> None:
    assert moved_note(4, 9).text == "replicas are 9, not 4 as written here: somebody else scaled"
