import json

from gputide.kubeapi.errors import StatusError, invalid, not_found
from gputide.kubeapi.handlers.answer import json_answer, status_answer, success
from gputide.kubeapi.model import Problem


def test_warnings_are_headers_that_hold_no_line_break() -> None:
    answer = json_answer({}, warnings=['unknown field "a"', "two\nlines", "ä"])
    assert answer.headers.getlist("warning") == [
        '299 - "unknown field \\"a\\""',
        '299 - "two\\nlines"',
        '299 - "?"',
    ]


def test_a_refusal_is_a_status_that_names_the_object() -> None:
    answer = status_answer(not_found("boxes.x.io", "a"))
    body = json.loads(bytes(answer.body))
    assert answer.status_code == body["code"] == 404
    assert body["details"] == {"name": "a", "group": "x.io", "kind": "boxes"}


def test_what_is_wrong_with_an_object_is_listed() -> None:
    error = invalid("Box", "a", [Problem(field="spec.size", message="Required value")])
    details = json.loads(bytes(status_answer(error).body))["details"]
    assert (details["kind"], details["name"]) == ("Box", "a")
    assert details["causes"][0]["field"] == "spec.size"


def test_a_client_is_told_when_to_come_back() -> None:
    busy = StatusError(429, "TooManyRequests", "later", retry_after_seconds=3)
    answer = status_answer(busy)
    assert answer.headers["retry-after"] == "3"
    assert json.loads(bytes(answer.body))["details"]["retryAfterSeconds"] == 3


def test_a_401_says_how_to_prove_oneself() -> None:
    answer = status_answer(StatusError(401, "Unauthorized", "Unauthorized"))
    assert answer.headers["www-authenticate"].startswith("Bearer")


def test_what_was_done_is_a_status_too() -> None:
    assert success({"name": "a"})["status"] == "Success"
