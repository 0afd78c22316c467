"""Sides, limits, codes and errors of a session."""

from dataclasses import dataclass
from enum import IntEnum, StrEnum

from gputide.errors import GputideError, SettingError


class Side(StrEnum):
    """Which end of the tunnel; the agent opens odd streams, the gateway even ones."""

    AGENT = "agent"
    GATEWAY = "gateway"

    @property
    def first_stream(self) -> int:
        """The first stream that this side opens; 0 is the session itself."""
        return 1 if self is Side.AGENT else 2


class FrameType(IntEnum):
    """First byte of a frame."""

    HELLO = 1
    OPEN = 2
    ACCEPT = 3
    REFUSE = 4
    DATA = 5
    FIN = 6
    RESET = 7
    CREDIT = 8
    PING = 9
    PONG = 10
    GOAWAY = 11


class Code(StrEnum):
    """Why a request was refused or a stream broken; also the `outcome` of metrics."""

    NOT_ALLOWED = "not_allowed"
    """The node, port or path is not on the allow-list of the site."""

    UNKNOWN_NODE = "unknown_node"
    UNREACHABLE = "unreachable"
    """The target does not answer: refused, no route, TLS failure."""

    TARGET_TIMED_OUT = "target_timed_out"
    """The target took longer than the deadline."""

    TIMED_OUT = "timed_out"
    """The tunnel took longer than the deadline."""

    TOO_LARGE = "too_large"
    TOO_MANY = "too_many"
    UNSUPPORTED = "unsupported"
    """This side is too old for the request, or has it switched off."""

    BAD_REQUEST = "bad_request"
    SLOW_READER = "slow_reader"
    GONE = "gone"
    """The other side of the pipe went away, or the session ends."""

    FAILED = "failed"


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Bounds of one session; at each one a peer is refused, reset or dropped, never waited for."""

    max_frame_bytes: int = 65_536
    """Payload of one frame; more is a broken peer."""

    max_streams: int = 1024
    """Open streams that the peer opened; one more is refused with `too_many`."""

    window_bytes: int = 1_048_576
    """What a peer may send on a stream before we have read it."""

    max_unread_bytes: int = 67_108_864
    """Received and not yet read, all streams together; the fullest one is reset beyond it."""

    max_unsent_bytes: int = 1_048_576
    """Given to a stream and not yet sent; `send` takes no more, `Writable` tells when it does."""

    max_control_bytes: int = 1_048_576
    """Control frames that the peer does not take off us: it counts as lost beyond it."""

    ping_seconds: float = 10.0
    """How often a ping goes out; below the 60 s after which load balancers cut idle connections."""

    lost_seconds: float = 25.0
    """Silence after which the peer counts as lost."""

    hello_seconds: float = 10.0
    """How long the peer may take to say hello."""

    def __post_init__(self) -> None:
        if self.lost_seconds <= self.ping_seconds:
            raise SettingError("lost-seconds", "must be longer than the time between pings")
        if not 1024 <= self.max_frame_bytes <= self.window_bytes:
            raise SettingError("max-frame-bytes", "must be 1024 to the window")


class PeerProtocolError(GputideError):
    """The peer broke the protocol: drop the connection."""


class PeerLostError(GputideError):
    """Nothing was heard from the peer for too long: drop the connection."""


class StreamClosedError(GputideError):
    """The stream is closed for what was asked of it."""
