"""Kubernetes' protobuf as the object that JSON would have been; nothing is dropped in silence."""

import base64
from collections.abc import Iterator
from typing import Any

from gputide.clock import utc_from_unix
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.protobuf.catalog import MESSAGES, READ

MEDIA_TYPE = "application/vnd.kubernetes.protobuf"
MAGIC = b"k8s\0"
MAX_DEPTH = 32
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
Value = int | bytes


def decoded(body: bytes) -> JsonObject:
    """Return the object; raise StatusError: 400 for no protobuf, 415 for what is not known here."""
    if not body.startswith(MAGIC):
        raise bad_request("the body is no protobuf of Kubernetes")
    envelope = dict(_fields(body[len(MAGIC) :]))
    head = dict(_fields(_as_bytes(envelope.get(1, b""))))
    kind = _as_text(head.get(2, b""))
    if kind not in READ or envelope.get(3):
        raise _unknown(f"kind {kind or 'unknown'}")
    content = _message(kind, _as_bytes(envelope.get(2, b"")), 0)
    return {"apiVersion": _as_text(head.get(1, b"")), "kind": kind} | content


def _message(name: str, data: bytes, depth: int) -> JsonObject:
    if depth > MAX_DEPTH:
        raise bad_request(f"protobuf nested deeper than {MAX_DEPTH}")
    known = MESSAGES[name]
    result: JsonObject = {}
    for number, value in _fields(data):
        if number not in known:
            if name != "Skipped" and value not in (0, b""):
                raise _unknown(f"field {number} of {name}")
            continue
        field, type_ = known[number]
        plain = type_.rstrip("*?")
        if plain in ("map", "bytes_map"):
            key, entry = _entry(_as_bytes(value), is_text=plain == "map")
            result.setdefault(field, {})[key] = entry
            continue
        one = _value(plain, value, depth)
        if type_.endswith("*"):
            result.setdefault(field, []).append(one)
        elif type_.endswith("?") or one not in ("", 0, {}, None):
            result[field] = one
    return result


def _value(type_: str, value: Value, depth: int) -> Any:  # noqa: ANN401 any JSON value
    if type_ == "string":
        return _as_text(value)
    if type_ in ("int", "bool"):
        number = _as_int(value)
        return bool(number) if type_ == "bool" else number
    if type_ == "time":
        seconds = dict(_fields(_as_bytes(value))).get(1)
        return None if seconds is None else _time(_as_int(seconds))
    if type_ == "int_or_string":
        fields = dict(_fields(_as_bytes(value)))
        return _as_text(fields.get(3, b"")) if fields.get(1) else _as_int(fields.get(2, 0))
    return _message(type_, _as_bytes(value), depth + 1)


def _entry(data: bytes, *, is_text: bool) -> tuple[str, str]:
    fields = dict(_fields(data))
    value = fields.get(2, b"")
    text = _as_text(value) if is_text else base64.b64encode(_as_bytes(value)).decode()
    return _as_text(fields.get(1, b"")), text


def _fields(data: bytes) -> Iterator[tuple[int, Value]]:
    """Yield (number, value): an int for a varint, else bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        wire = key & 7
        value: Value
        if wire == _VARINT:
            value, position = _varint(data, position)
        else:
            size = {_FIXED64: 8, _FIXED32: 4}.get(wire, 0)
            if wire == _BYTES:
                size, position = _varint(data, position)
            elif not size:
                raise bad_request(f"protobuf: wire type {wire}")
            if position + size > len(data):
                raise bad_request("protobuf: ends too early")
            value, position = data[position : position + size], position + size
        yield key >> 3, value


def _varint(data: bytes, position: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        if position >= len(data):
            raise bad_request("protobuf: ends too early")
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
    raise bad_request("protobuf: a number is too long")


def _as_bytes(value: Value) -> bytes:
    if isinstance(value, int):
        raise bad_request("protobuf: a number where text or a message should be")
    return value


def _as_text(value: Value) -> str:
    try:
        return _as_bytes(value).decode()
    except UnicodeDecodeError as error:
        raise bad_request("protobuf: text is no UTF-8") from error


def _as_int(value: Value) -> int:
    if not isinstance(value, int):
        raise bad_request("protobuf: text where a number should be")
    return value - 2**64 if value >= 2**63 else value


def _time(seconds: int) -> str:
    try:
        return utc_from_unix(seconds).strftime("%Y-%m-%dT%H:%M:%SZ")
    except (OverflowError, ValueError, OSError) as error:
        raise bad_request("protobuf: a time is out of range") from error


def _unknown(what: str) -> StatusError:
    message = f"protobuf with {what} is not read by this server; send application/json"
    return StatusError(415, "UnsupportedMediaType", message)
