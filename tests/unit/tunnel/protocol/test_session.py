import sys
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.tunnel.protocol import (
    Accepted,
    Call,
    Code,
    DataReceived,
    Finished,
    GoingAway,
    Greeted,
    Hello,
    Limits,
    Opened,
    PeerLostError,
    PeerProtocolError,
    Pipe,
    Ponged,
    Refused,
    Reply,
    Scrape,
    Session,
    Side,
    StreamClosedError,
    WasReset,
    Writable,
)
from gputide.tunnel.protocol.frames import encode_frame
from gputide.tunnel.protocol.model import FrameType
from gputide.tunnel.protocol.wire import encode, refusal

sys.path.insert(0, str(Path(__file__).parent))
from joined import Joined

SCRAPE = Scrape(node="edge-gpu-001", port=9400, path="/metrics", timeout_ms=10_000)
PIPE = Pipe(node="edge-gpu-001", port=10_250, timeout_ms=10_000)


def test_both_sides_greet_and_use_what_both_can_do() -> None:
    joined = Joined(agent=Hello(versions=(1, 7), features=("spool", "new"), nodes=("n1",))).settle()

    greeted = joined.gateway.of(Greeted)[0]
    assert isinstance(greeted, Greeted)
    assert (greeted.version, greeted.hello.nodes, greeted.features) == (1, ("n1",), frozenset())
    assert joined.agent.session.can_open


def test_sides_without_a_version_in_common_say_which_they_speak() -> None:
    joined = Joined(agent=Hello(versions=(2,)))
    with pytest.raises(PeerProtocolError, match=r"this side speaks \[2\], the peer \[1\]"):
        joined.settle()


def test_a_scrape_takes_one_message_each_way() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(SCRAPE, is_finished=True)
    joined.send(joined.gateway)
    joined.deliver(joined.agent, 2**30)
    assert joined.agent.events[-1] == Opened(stream, SCRAPE, is_finished=True)

    joined.agent.session.accept(stream, Reply(size=5))
    joined.agent.session.send(stream, b"hello")
    joined.agent.session.finish(stream)
    joined.send(joined.agent)
    joined.deliver(joined.gateway, 2**30)

    assert joined.gateway.events[-3:] == [
        Accepted(stream, Reply(size=5)),
        DataReceived(stream, b"hello"),
        Finished(stream),
    ]
    assert joined.agent.session.stream_count == joined.gateway.session.stream_count == 0


def test_a_pipe_may_send_before_it_is_answered() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(PIPE)
    assert joined.gateway.session.send(stream, b"client hello") == 12
    joined.settle()

    assert joined.agent.events[-1] == DataReceived(stream, b"client hello")


def test_the_side_asked_sends_nothing_before_it_accepted() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(PIPE)
    joined.settle()
    with pytest.raises(StreamClosedError, match="was not accepted"):
        joined.agent.session.send(stream, b"x")


@settings(deadline=None, max_examples=60)
@given(
    data=st.data(),
    sizes=st.lists(st.integers(0, 90_000), min_size=1, max_size=5),
)
def test_any_chunking_and_interleaving_gives_each_stream_its_bytes(
    data: st.DataObject, sizes: list[int]
) -> None:
    limits = Limits(window_bytes=16_384, max_unsent_bytes=8_192, max_frame_bytes=16_384)
    joined = Joined(limits).settle()
    sent = {
        joined.gateway.session.open(PIPE): bytes([n % 251]) * size for n, size in enumerate(sizes)
    }
    left = {stream: memoryview(page) for stream, page in sent.items()}
    got = dict.fromkeys(sent, b"")
    ended: set[int] = set()

    while len(ended) < len(sent):
        stream = data.draw(st.sampled_from(sorted(sent)))
        if stream in left:
            taken = joined.gateway.session.send(stream, left[stream][: data.draw(cuts)])
            left[stream] = left[stream][taken:]
            if not left[stream]:
                joined.gateway.session.finish(stream)
                del left[stream]
        joined.send(joined.gateway, data.draw(cuts))
        joined.deliver(joined.agent, data.draw(cuts))
        for event in joined.agent.events:
            if isinstance(event, DataReceived):
                got[event.stream] += event.data
                joined.agent.session.consumed(event.stream, len(event.data))
            if isinstance(event, Finished):
                ended.add(event.stream)
        joined.agent.events.clear()
        joined.send(joined.agent)
        joined.deliver(joined.gateway, 2**30)

    assert got == sent


cuts = st.integers(1, 40_000)


def test_a_slow_reader_stops_its_own_stream_alone() -> None:
    joined = Joined().settle()
    slow = joined.gateway.session.open(PIPE)
    quick = joined.gateway.session.open(PIPE)
    page = bytes(3_000_000)
    taken = joined.gateway.session.send(slow, page)
    joined.settle()  # the agent reads nothing: the window fills, then the sender's bound
    taken += joined.gateway.session.send(slow, page[taken:])
    joined.settle()
    assert taken == 2 * 1_048_576
    assert joined.gateway.session.send(slow, b"more") == 0

    joined.gateway.session.send(quick, b"neighbour")
    joined.settle()
    assert joined.agent.events[-1] == DataReceived(quick, b"neighbour")

    joined.agent.session.consumed(slow, 1_048_576)
    joined.settle()
    assert joined.gateway.session.writable() == [Writable(slow)]


def test_streams_take_turns_so_that_a_large_page_delays_nobody() -> None:
    joined = Joined().settle()
    large = joined.gateway.session.open(PIPE)
    small = joined.gateway.session.open(PIPE)
    joined.gateway.session.send(large, bytes(1_000_000))
    joined.gateway.session.send(small, b"quick")
    joined.send(joined.gateway, 40_000)
    joined.deliver(joined.agent, 2**30)

    assert DataReceived(small, b"quick") in joined.agent.events


def test_a_peer_that_sends_beyond_its_credit_breaks_the_protocol() -> None:
    joined = Joined(Limits(window_bytes=16_384, max_frame_bytes=16_384)).settle()
    stream = joined.gateway.session.open(PIPE)
    joined.settle()
    joined.agent.session.accept(stream, Reply())
    joined.settle()
    joined.gateway.inbox += encode_frame(FrameType.DATA, stream, bytes(16_384))
    joined.gateway.inbox += encode_frame(FrameType.DATA, stream, b"x")
    with pytest.raises(PeerProtocolError, match="1 bytes on a stream with credit for 0"):
        joined.settle()


def test_what_nobody_reads_is_bounded_over_all_streams() -> None:
    joined = Joined(Limits(max_unread_bytes=1_500_000)).settle()
    streams = [joined.gateway.session.open(PIPE) for _ in range(2)]
    for stream in streams:
        joined.gateway.session.send(stream, bytes(1_000_000))
    joined.settle()

    [reset] = joined.agent.of(WasReset)
    assert isinstance(reset, WasReset)
    assert reset.code is Code.SLOW_READER
    assert joined.gateway.of(WasReset) == [reset]
    assert joined.agent.session.stream_count == 1


def test_refusals_and_resets_reach_the_other_side_with_code_and_text() -> None:
    joined = Joined().settle()
    refused = joined.gateway.session.open(SCRAPE, is_finished=True)
    broken = joined.gateway.session.open(PIPE)
    joined.settle()
    joined.agent.session.refuse(refused, Code.NOT_ALLOWED, "port 22 is not on the list")
    joined.agent.session.accept(broken, Reply())
    joined.agent.session.reset(broken, Code.UNREACHABLE, "connection refused")
    joined.settle()

    assert joined.gateway.of(Refused) == [
        Refused(refused, Code.NOT_ALLOWED, "port 22 is not on the list")
    ]
    assert joined.gateway.of(WasReset) == [WasReset(broken, Code.UNREACHABLE, "connection refused")]


def test_frames_that_were_under_way_when_a_stream_was_reset_do_no_harm() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(PIPE)
    joined.settle()
    joined.agent.session.accept(stream, Reply())
    joined.agent.session.send(stream, b"late")
    joined.send(joined.agent)
    joined.gateway.session.reset(stream)
    joined.settle()

    assert joined.agent.of(WasReset) == [WasReset(stream, Code.GONE, "")]
    assert not joined.gateway.of(DataReceived)


def test_a_request_that_an_old_peer_does_not_know_is_refused_as_unsupported() -> None:
    joined = Joined().settle()
    joined.agent.inbox += encode_frame(FrameType.OPEN, 2, b"\x81\xa4type\xa6future")
    joined.gateway.session.open(Call(method="x"))  # so that stream 2 exists on both sides
    joined.gateway.session.data_to_send()
    joined.settle()

    assert joined.gateway.of(Refused) == [
        Refused(2, Code.UNSUPPORTED, "this side does not know that request")
    ]


def test_a_code_of_a_later_version_reads_as_failed_and_keeps_its_words() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(SCRAPE, is_finished=True)
    joined.settle()
    joined.agent.session.refuse(stream, Code.FAILED)
    joined.agent.session.data_to_send()
    joined.gateway.inbox += encode_frame(FrameType.REFUSE, stream, encode_later())
    joined.settle()

    assert joined.gateway.of(Refused) == [Refused(stream, Code.FAILED, "on_fire: mind the smoke")]


def encode_later() -> bytes:
    return (
        refusal(Code.FAILED)
        .replace(b"\xa6failed", b"\xa7on_fire")
        .replace(b"\xa0", b"\xaemind the smoke")
    )


def test_more_requests_than_allowed_are_refused_and_those_under_way_go_on() -> None:
    joined = Joined(Limits(max_streams=3)).settle()
    streams = [joined.gateway.session.open(SCRAPE, is_finished=True) for _ in range(5)]
    joined.settle()

    assert [event.stream for event in joined.gateway.of(Refused)] == streams[3:]  # type: ignore[union-attr]  # Refused alone
    assert len(joined.agent.of(Opened)) == 3


def test_a_draining_side_takes_no_new_requests_and_ends_those_under_way() -> None:
    joined = Joined().settle()
    stream = joined.gateway.session.open(SCRAPE, is_finished=True)
    joined.settle()
    joined.agent.session.go_away("shutting down")
    joined.settle()
    assert joined.gateway.of(GoingAway) == [GoingAway("shutting down")]
    assert not joined.gateway.session.can_open
    assert not joined.agent.session.is_drained

    joined.agent.session.accept(stream, Reply(), is_finished=True)
    joined.settle()
    assert joined.agent.session.is_drained
    assert joined.gateway.session.is_drained


def test_a_ping_measures_the_round_trip_through_the_tunnel() -> None:
    joined = Joined().settle()
    joined.now_seconds = 10.0
    joined.agent.session.tick(now_seconds=10.0)
    joined.send(joined.agent)
    joined.deliver(joined.gateway, 2**30)
    joined.now_seconds = 10.08
    joined.settle()

    [pong] = joined.agent.of(Ponged)
    assert isinstance(pong, Ponged)
    assert pong.round_trip_seconds == pytest.approx(0.08)


def test_silence_is_noticed_at_the_deadline_and_not_before() -> None:
    joined = Joined().settle()
    session = joined.gateway.session
    for _ in range(10):
        deadline = session.deadline_seconds
        session.tick(now_seconds=deadline - 0.001)
        if deadline >= 25:
            break
        session.tick(now_seconds=deadline)
    with pytest.raises(PeerLostError, match="nothing heard from the peer for 25 s"):
        session.tick(now_seconds=25.0)


def test_a_peer_without_a_hello_is_dropped_in_time() -> None:
    session = Session(Side.GATEWAY, Hello(), now_seconds=5)
    assert session.deadline_seconds == 15
    with pytest.raises(PeerLostError, match="said no hello"):
        session.tick(now_seconds=15)


def test_a_peer_that_floods_pings_and_reads_no_answer_is_dropped() -> None:
    session = Joined(Limits(max_control_bytes=10_000)).settle().gateway.session
    ping = encode_frame(FrameType.PING, 0, bytes(64))
    with pytest.raises(PeerLostError, match="does not read what it is told"):
        session.receive(ping * 200, now_seconds=0)


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (encode_frame(FrameType.HELLO, 0, encode(Hello())), "comes once"),
        (encode_frame(FrameType.OPEN, 4, encode(SCRAPE)), "cannot be opened by the peer"),
        (encode_frame(FrameType.OPEN, 0, encode(SCRAPE)), "cannot be opened by the peer"),
        (encode_frame(FrameType.DATA, 0, b"x"), "never opened"),
        (encode_frame(FrameType.DATA, 9, b"x"), "never opened"),
        (encode_frame(FrameType.ACCEPT, 2, encode(Reply())), "never opened"),
        (encode_frame(FrameType.PING, 0, bytes(65)), "ping of more"),
        (encode_frame(FrameType.GOAWAY, 0, b"\xc1"), "unreadable refusal"),
    ],
)
def test_a_peer_that_breaks_the_rules_is_dropped(frame: bytes, message: str) -> None:
    session = Joined().settle().gateway.session
    with pytest.raises(PeerProtocolError, match=message):
        session.receive(frame, now_seconds=0)


def test_a_credit_beyond_the_window_or_of_another_length_is_refused() -> None:
    for payload, message in ((b"\x7f\xff\xff\xff", "more credit"), (b"\x01", "four bytes")):
        joined = Joined().settle()
        stream = joined.gateway.session.open(PIPE)
        joined.settle()
        with pytest.raises(PeerProtocolError, match=message):
            joined.gateway.session.receive(
                encode_frame(FrameType.CREDIT, stream, payload), now_seconds=0
            )


@settings(deadline=None, max_examples=200)
@given(
    noise=st.lists(
        st.tuples(
            st.sampled_from(FrameType), st.integers(0, 9), st.binary(max_size=40), st.booleans()
        ),
        max_size=12,
    )
)
def test_whatever_a_peer_sends_ends_in_events_or_in_a_dropped_connection(
    noise: list[tuple[FrameType, int, bytes, bool]],
) -> None:
    joined = Joined(Limits(max_streams=2)).settle()
    joined.gateway.session.open(PIPE)
    try:
        for kind, stream, payload, is_final in noise:
            joined.gateway.session.receive(
                encode_frame(kind, stream, payload, is_final=is_final), now_seconds=1
            )
            joined.gateway.session.data_to_send()
    except (PeerProtocolError, PeerLostError):
        return
    assert joined.gateway.session.stream_count <= 3
