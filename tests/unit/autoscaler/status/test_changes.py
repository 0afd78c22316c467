from typing import Any

from gputide.autoscaler.status.changes import Due, due

BEFORE: dict[str, Any] = {
    "current": "20",
    "desiredReplicas": 4,
    "conditions": [{"type": "DemandKnown", "status": "True", "reason": "x", "message": "a"}],
}


def test_what_matters_is_written_at_once() -> None:
    assert due(BEFORE, {**BEFORE, "desiredReplicas": 5}, since_write_seconds=1) is Due.AT_ONCE
    other = [{"type": "DemandKnown", "status": "False", "reason": "x", "message": "a"}]
    assert due(BEFORE, {**BEFORE, "conditions": other}, since_write_seconds=1) is Due.AT_ONCE


def test_mere_numbers_are_written_once_a_minute() -> None:
    after = {**BEFORE, "current": "21"}
    assert due(BEFORE, after, since_write_seconds=59) is Due.NOT
    assert due(BEFORE, after, since_write_seconds=60) is Due.IN_TURN


def test_nothing_is_written_where_nothing_changed() -> None:
    assert due(BEFORE, dict(BEFORE), since_write_seconds=10_000) is Due.NOT
    assert due(BEFORE, dict(BEFORE), since_write_seconds=None) is Due.NOT


def test_other_words_are_written_as_numbers_are() -> None:
    reworded = {**BEFORE, "conditions": [{**BEFORE["conditions"][0], "message": "b"}]}
    assert due(BEFORE, reworded, since_write_seconds=59) is Due.NOT
    assert due(BEFORE, reworded, since_write_seconds=60) is Due.IN_TURN


def test_the_first_status_is_written() -> None:
    assert due({}, BEFORE, since_write_seconds=None) is Due.AT_ONCE
