"""The tunnel's protocol without I/O: bytes and time in, events and bytes out.

    session = Session(Side.GATEWAY, hello, limits, now_seconds=...)
    for event in session.receive(data, now_seconds=...): ...
    carrier.send(session.data_to_send())

One session is one connection between an agent and a gateway, over any carrier that keeps order.
"""

from gputide.tunnel.protocol.events import (
    Accepted,
    DataReceived,
    Event,
    Finished,
    GoingAway,
    Greeted,
    Opened,
    Ponged,
    Refused,
    WasReset,
    Writable,
)
from gputide.tunnel.protocol.model import (
    Code,
    Limits,
    PeerLostError,
    PeerProtocolError,
    Side,
    StreamClosedError,
)
from gputide.tunnel.protocol.session import Session
from gputide.tunnel.protocol.wire import (
    PROTOCOL_VERSION,
    Call,
    Hello,
    Pipe,
    Reply,
    Request,
    Scrape,
)

__all__ = [
    "PROTOCOL_VERSION",
    "Accepted",
    "Call",
    "Code",
    "DataReceived",
    "Event",
    "Finished",
    "GoingAway",
    "Greeted",
    "Hello",
    "Limits",
    "Opened",
    "PeerLostError",
    "PeerProtocolError",
    "Pipe",
    "Ponged",
    "Refused",
    "Reply",
    "Request",
    "Scrape",
    "Session",
    "Side",
    "StreamClosedError",
    "WasReset",
    "Writable",
]
