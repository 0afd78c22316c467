"""What a session tells the shell; each names its stream."""

from dataclasses import dataclass

from gputide.tunnel.protocol.model import Code
from gputide.tunnel.protocol.wire import Hello, Reply, Request


@dataclass(frozen=True, slots=True)
class Greeted:
    """The peer's hello came: requests may be opened."""

    hello: Hello
    version: int
    features: frozenset[str]
    """What both sides can do."""


@dataclass(frozen=True, slots=True)
class Opened:
    """The peer asks for something: `accept` or `refuse` it."""

    stream: int
    request: Request
    is_finished: bool
    """No data will follow from the peer."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """Our request is answered; data may follow."""

    stream: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class Refused:
    """Our request is refused: the stream is over."""

    stream: int
    code: Code
    text: str


@dataclass(frozen=True, slots=True)
class DataReceived:
    """Bytes of a stream; say `consumed` once they were passed on."""

    stream: int
    data: bytes


@dataclass(frozen=True, slots=True)
class Finished:
    """The peer sends no more on this stream."""

    stream: int


@dataclass(frozen=True, slots=True)
class WasReset:
    """The stream broke: by the peer, or by us at a bound."""

    stream: int
    code: Code
    text: str


@dataclass(frozen=True, slots=True)
class Writable:
    """`send` takes data again on this stream."""

    stream: int


@dataclass(frozen=True, slots=True)
class Ponged:
    """A ping came back: the tunnel works, and took this long."""

    round_trip_seconds: float


@dataclass(frozen=True, slots=True)
class GoingAway:
    """The peer drains: it opens and takes no new requests, those under way go on."""

    text: str


Event = (
    Greeted
    | Opened
    | Accepted
    | Refused
    | DataReceived
    | Finished
    | WasReset
    | Writable
    | Ponged
    | GoingAway
)
