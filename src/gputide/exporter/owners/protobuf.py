"""Protocol buffers' wire format, as far as reading small messages needs. Pure.

Every size is checked against the bytes that are there before anything is taken, so that a hostile
length costs nothing.
"""

from collections.abc import Iterator
from enum import IntEnum

from gputide.errors import GputideError

MAX_VARINT_BYTES = 10
_MAX_FIELD_NUMBER = 2**29 - 1


class WireType(IntEnum):
    """How a field's value is written."""

    VARINT = 0
    FIXED64 = 1
    BYTES = 2
    GROUP_START = 3
    GROUP_END = 4
    FIXED32 = 5


class MalformedMessageError(GputideError):
    """Bytes that are no protocol buffer message; says what is wrong, and at which byte."""


Value = int | memoryview
_SIZES = {WireType.FIXED64: 8, WireType.FIXED32: 4}


def fields(message: bytes | memoryview) -> Iterator[tuple[int, Value]]:
    """Yield (field number, value) in the order of the message.

    A varint is an unsigned int; everything else is a view of its bytes. Groups, which proto3 has
    not, are refused.
    """
    view = memoryview(message)
    position = 0
    while position < len(view):
        start = position
        key, position = varint(view, position)
        number, kind = key >> 3, key & 7
        if not 0 < number <= _MAX_FIELD_NUMBER:
            raise MalformedMessageError(f"field number {number} at byte {start}")
        if kind == WireType.VARINT:
            value, position = varint(view, position)
            yield number, value
            continue
        size = _SIZES.get(WireType(kind)) if kind in _SIZES else None
        if kind == WireType.BYTES:
            size, position = varint(view, position)
        if size is None:
            raise MalformedMessageError(f"wire type {kind} at byte {start}")
        if size > len(view) - position:
            left = len(view) - position
            raise MalformedMessageError(f"{size} bytes wanted at byte {position}, {left} are left")
        yield number, view[position : position + size]
        position += size


def varint(view: memoryview, position: int) -> tuple[int, int]:
    """Return the unsigned number at a position, below 2**64, and the position after it."""
    number = 0
    for index in range(MAX_VARINT_BYTES):
        if position + index >= len(view):
            raise MalformedMessageError(f"ends within the number at byte {position}")
        byte = view[position + index]
        number |= (byte & 0x7F) << (7 * index)
        if byte < 0x80:
            if number >= 2**64:
                break
            return number, position + index + 1
    raise MalformedMessageError(f"the number at byte {position} is too long")


def text(value: Value) -> str:
    """Return a string field; raise where it is a number or no UTF-8."""
    try:
        return str(message(value), "utf-8")
    except UnicodeDecodeError as error:
        raise MalformedMessageError(f"a text is no UTF-8: {error.reason}") from error


def message(value: Value) -> memoryview:
    """Return the bytes of a nested message; raise where the field is a number."""
    if isinstance(value, int):
        raise MalformedMessageError("a number stands where a text or a message belongs")
    return value
