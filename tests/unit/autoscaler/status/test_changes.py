from typing import Any

from gputide.autoscaler.status.changes import is_due

BEFORE: dict[str, Any] = {
    "current": "20",
    "desiredReplicas": 4,
    "conditions": [{"type": "DemandKnown", "status": "True", "reason": "x", "message": "a"}],
}


def test_what_matters_is_written_at_once() -> None:
    assert is_due(BEFORE, {**BEFORE, "desiredReplicas": 5}, since_write_seconds=1)
    other = [{"type": "DemandKnown", "status": "False", "reason": "x", "message": "a"}]
    assert is_due(BEFORE, {**BEFORE, "conditions": other}, since_write_seconds=1)


def test_mere_numbers_are_written_once_a_minute() -> None:
    after = {**BEFORE, "current": "21"}
    assert not is_due(BEFORE, after, since_write_seconds=59)
    assert is_due(BEFORE, after, since_write_seconds=60)


def test_nothing_is_written_where_nothing_changed() -> None:
    assert not is_due(BEFORE, dict(BEFORE), since_write_seconds=10_000)
    assert not is_due(BEFORE, dict(BEFORE), since_write_seconds=None)
    reworded = [{**BEFORE["conditions"][0], "message": "b"}]
    assert not is_due(BEFORE, {**BEFORE, "conditions": reworded}, since_write_seconds=10_000)


def test_the_first_status_is_written() -> None:
    assert is_due({}, BEFORE, since_write_seconds=None)
