from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.kubelet_server import block, number
from gputide.exporter.owners.protobuf import MalformedMessageError, fields, message, text, varint

NUMBERS = st.integers(0, 2**64 - 1)
FIELD_NUMBERS = st.integers(1, 2**29 - 1)


@given(NUMBERS)
def test_a_number_comes_back_as_it_was_written(value: int) -> None:
    encoded = number(value)

    assert varint(memoryview(encoded), 0) == (value, len(encoded))


@given(st.lists(st.tuples(FIELD_NUMBERS, NUMBERS | st.binary(max_size=50)), max_size=10))
def test_a_message_comes_back_field_by_field(written: list[tuple[int, int | bytes]]) -> None:
    encoded = b"".join(
        number(field << 3) + number(value) if isinstance(value, int) else block(field, value)
        for field, value in written
    )

    read = [(field, v if isinstance(v, int) else bytes(v)) for field, v in fields(encoded)]
    assert read == written


def test_fixed_size_fields_are_passed_over_by_their_size() -> None:
    encoded = b"\x09" + bytes(8) + b"\x15" + bytes(4) + block(3, "end")

    assert [(n, len(v)) for n, v in fields(encoded) if not isinstance(v, int)] == [
        (1, 8),
        (2, 4),
        (3, 3),
    ]


@given(st.binary(max_size=200))
def test_any_bytes_are_a_message_or_malformed(data: bytes) -> None:
    with suppress(MalformedMessageError):
        total = sum(1 if isinstance(v, int) else len(v) for _, v in fields(data))
        assert total <= len(data)


@pytest.mark.parametrize(
    ("data", "problem"),
    [
        (b"\x0a\xff\xff\xff\xff\x0f", "4294967295 bytes wanted at byte 6, 0 are left"),
        (b"\x0a\x05abc", "5 bytes wanted at byte 2, 3 are left"),
        (b"\x08", "ends within the number at byte 1"),
        (b"\x08" + b"\xff" * 10, "the number at byte 1 is too long"),
        (b"\x08" + b"\xff" * 9 + b"\x7f", "the number at byte 1 is too long"),
        (b"\x08" + b"\xff" * 9 + b"\x02", "the number at byte 1 is too long"),
        (b"\x0b", "wire type 3 at byte 0"),
        (b"\x0f", "wire type 7 at byte 0"),
        (b"\x02\x00", "field number 0 at byte 0"),
        (b"\x0d\x00", "4 bytes wanted at byte 1, 1 are left"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(data: bytes, problem: str) -> None:
    with pytest.raises(MalformedMessageError) as caught:
        list(fields(data))

    assert str(caught.value) == problem


def test_a_text_that_is_a_number_or_no_utf8_is_malformed() -> None:
    with pytest.raises(MalformedMessageError, match="a number stands"):
        message(7)
    with pytest.raises(MalformedMessageError, match="no UTF-8"):
        text(memoryview(b"\xff\xfe"))
