import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kube.errors import (
    BusyError,
    ConflictError,
    ForbiddenError,
    GoneError,
    InvalidError,
    KubeError,
    NotFoundError,
    UnauthorizedError,
    error_of,
)


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        *((400, InvalidError), (401, UnauthorizedError), (403, ForbiddenError)),
        *((404, NotFoundError), (409, ConflictError), (410, GoneError), (422, InvalidError)),
        *((429, BusyError), (503, BusyError), (504, BusyError), (500, KubeError)),
    ],
)
def test_a_code_is_a_type_that_says_whether_to_ask_again(code: int, kind: type[KubeError]) -> None:
    error = error_of("GET /x", code, b"")

    assert type(error) is kind
    assert error.code == code
    assert error.is_retryable == (kind is BusyError)


def test_the_servers_own_words_and_reason_are_kept() -> None:
    body = {"kind": "Status", "message": "pods is forbidden", "reason": "Forbidden", "code": 403}

    error = error_of("GET /x", 403, json.dumps(body).encode())

    assert error.reason == "Forbidden"
    assert str(error) == "GET /x: pods is forbidden"


def test_a_wish_to_wait_stays_with_a_busy_server() -> None:
    busy = error_of("GET /x", 429, b"", retry_after_seconds=3)

    assert isinstance(busy, BusyError)
    assert busy.retry_after_seconds == 3


@pytest.mark.parametrize(
    "body", [b"", b"<html>", b"[]", b'{"message": 1}', b'"\xff"', b"[" * 100_000]
)
def test_a_body_that_is_no_status_does_not_hide_the_code(body: bytes) -> None:
    error = error_of("GET /x", 404, body)

    assert isinstance(error, NotFoundError)
    assert str(error) == "GET /x: answered 404"


@given(code=st.integers(300, 599), body=st.binary(max_size=60))
def test_any_answer_makes_an_error(code: int, body: bytes) -> None:
    assert isinstance(error_of("GET /x", code, body), KubeError)
