import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.tunnel.protocol.frames import Frame, FrameReader, encode_frame
from gputide.tunnel.protocol.model import FrameType, PeerProtocolError

frames = st.builds(
    Frame,
    type=st.sampled_from(FrameType),
    is_final=st.booleans(),
    stream=st.integers(0, 2**31 - 1),
    payload=st.binary(max_size=400),
)


@given(sent=st.lists(frames, max_size=8), cut=st.integers(1, 60))
def test_any_chunking_gives_the_same_frames(sent: list[Frame], cut: int) -> None:
    reader = FrameReader(max_frame_bytes=1024)
    wire = b"".join(
        encode_frame(one.type, one.stream, one.payload, is_final=one.is_final) for one in sent
    )
    chunks = [wire[start : start + cut] for start in range(0, len(wire), cut)]

    assert [frame for chunk in chunks for frame in reader.receive(chunk)] == sent


def test_a_frame_of_four_gigabytes_is_refused_by_its_head_alone() -> None:
    reader = FrameReader(max_frame_bytes=65_536)
    head = bytes([FrameType.DATA, 0]) + (3).to_bytes(4) + (2**32 - 1).to_bytes(4)

    with pytest.raises(PeerProtocolError, match="frame of 4294967295 bytes; at most 65536"):
        reader.receive(head)


def test_an_unknown_type_is_refused_and_one_of_a_later_version_skipped() -> None:
    reader = FrameReader(max_frame_bytes=1024)
    later = bytes([64, 0]) + (9).to_bytes(4) + (3).to_bytes(4) + b"new"

    assert reader.receive(later + encode_frame(FrameType.PING, 0, b"x")) == [
        Frame(FrameType.PING, is_final=False, stream=0, payload=b"x")
    ]
    with pytest.raises(PeerProtocolError, match="unknown frame type 12"):
        reader.receive(bytes([12, 0]) + bytes(8))


def test_a_stream_number_beyond_the_range_is_refused() -> None:
    with pytest.raises(PeerProtocolError, match="stream 2147483648 is out of range"):
        FrameReader(max_frame_bytes=1024).receive(encode_frame(FrameType.DATA, 2**31))


@given(noise=st.binary(max_size=300))
def test_noise_gives_frames_or_a_protocol_error_and_keeps_no_more_than_a_frame(
    noise: bytes,
) -> None:
    reader = FrameReader(max_frame_bytes=256)
    try:
        for start in range(0, len(noise), 7):
            reader.receive(noise[start : start + 7])
    except PeerProtocolError:
        return
    assert len(reader._buffer) < 256 + 10
