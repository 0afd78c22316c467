from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from starlette.requests import Request
from starlette.types import Message

from fakes.refusals import code_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.handlers.body import parsed, parsed_yaml, read_body, read_object


def request(*chunks: bytes, headers: Mapping[str, str] | None = None) -> Request:
    rest = list(chunks)

    async def receive() -> Message:
        body = rest.pop(0) if rest else b""
        return {"type": "http.request", "body": body, "more_body": bool(rest)}

    listed = [(name.encode(), value.encode()) for name, value in (headers or {}).items()]
    return Request({"type": "http", "method": "POST", "headers": listed}, receive)


async def test_a_body_is_put_together_from_its_chunks() -> None:
    assert await read_body(request(b"ab", b"cd"), 4) == b"abcd"


@pytest.mark.parametrize("stated", [None, "5", "x"])
async def test_a_body_beyond_the_bound_is_a_413(stated: str | None) -> None:
    headers = {} if stated is None else {"content-length": stated}
    with pytest.raises(StatusError) as caught:
        await read_body(request(b"abc", b"de", headers=headers), 4)
    assert caught.value.code == 413


async def test_an_object_is_read_by_its_media_type() -> None:
    yaml = request(b"a: 1\nb: [x]", headers={"content-type": "application/yaml; charset=utf-8"})
    assert await read_object(yaml, 100) == {"a": 1, "b": ["x"]}
    assert await read_object(request(b'{"a": 1}'), 100) == {"a": 1}
    for type_, body, code in (("text/plain", b"{}", 415), ("application/json", b"[]", 400)):
        with pytest.raises(StatusError) as caught:
            await read_object(request(body, headers={"content-type": type_}), 100)
        assert caught.value.code == code


def test_fields_that_are_there_twice_are_named() -> None:
    duplicates: list[str] = []
    assert parsed(b'{"a": 1, "b": {"c": 1, "c": 2, "c": 3}}', duplicates) == {"a": 1, "b": {"c": 3}}
    assert duplicates == ["c"]


@pytest.mark.parametrize(
    "body", [b"", b"{", b'{"a": NaN}', b'{"a": Infinity}', b"[" * 100_000, b"\xff", b"1" * 5000]
)
def test_what_is_no_json_is_a_400(body: bytes) -> None:
    assert code_of(lambda: parsed(body)) == 400


@pytest.mark.parametrize("body", [b"a: [", b"a: &x [1]\nb: *x", b"a: \x00", b"!!python/none x"])
def test_what_is_no_plain_yaml_is_a_400(body: bytes) -> None:
    assert code_of(lambda: parsed_yaml(body)) == 400


def test_values_that_json_does_not_have_become_text() -> None:
    assert parsed_yaml(b"1: 2026-03-01\n") == {"1": "2026-03-01"}


@given(st.binary(max_size=60))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    assert code_of(lambda: parsed(body)) in (None, 400)
    assert code_of(lambda: parsed_yaml(body)) in (None, 400)
