"""Prometheus' remote_write 1.0 message: a protobuf of three small messages. Pure.

https://prometheus.io/docs/specs/prw/remote_write_spec/
"""

from collections.abc import Iterable
from struct import pack

from gputide.tunnel.gateway.backfill.convert import SeriesSamples

_VARINT, _FIXED64, _BYTES = 0, 1, 2


def encode_write(series: Iterable[SeriesSamples]) -> bytes:
    """Return a WriteRequest, not compressed yet."""
    return b"".join(_field(1, _time_series(one)) for one in series)


def _time_series(series: SeriesSamples) -> bytes:
    labels = b"".join(
        _field(1, _field(1, name.encode()) + _field(2, value.encode()))
        for name, value in series.labels
    )
    samples = b"".join(
        _field(2, _key(1, _FIXED64) + pack("<d", value) + _key(2, _VARINT) + _varint(at_ms))
        for at_ms, value in series.samples
    )
    return labels + samples


def _field(number: int, payload: bytes) -> bytes:
    return _key(number, _BYTES) + _varint(len(payload)) + payload


def _key(number: int, wire_type: int) -> bytes:
    return bytes([number << 3 | wire_type])


def _varint(value: int) -> bytes:
    value &= 2**64 - 1  # negative numbers are ten bytes, as protobuf has it
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    out.append(value)
    return bytes(out)
