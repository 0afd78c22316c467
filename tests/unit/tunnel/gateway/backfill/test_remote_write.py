from gputide.tunnel.gateway.backfill.convert import SeriesSamples
from gputide.tunnel.gateway.backfill.remote_write import encode_write


def test_the_message_is_protobuf_byte_by_byte() -> None:
    series = SeriesSamples(labels=(("a", "b"),), samples=((300, 1.0),))
    label = b"\x0a\x06\x0a\x01a\x12\x01b"
    sample = b"\x12\x0c\x09\x00\x00\x00\x00\x00\x00\xf0\x3f\x10\xac\x02"
    assert encode_write([series]) == b"\x0a" + bytes([len(label + sample)]) + label + sample


def test_long_labels_and_times_before_the_epoch_are_taken() -> None:
    series = SeriesSamples(labels=(("n", "x" * 300),), samples=((-1, 0.0),))
    encoded = encode_write([series])
    assert b"\x12\xac\x02" + b"x" * 300 in encoded
    assert encoded.endswith(b"\x10" + b"\xff" * 9 + b"\x01")
    assert encode_write([]) == b""
