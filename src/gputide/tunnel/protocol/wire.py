"""What frames carry, as MessagePack; unknown fields are ignored, so that versions can differ."""

from typing import Annotated, Any

import msgspec

from gputide.tunnel.protocol.model import Code, PeerProtocolError

PROTOCOL_VERSION = 1


class Hello(msgspec.Struct, frozen=True, kw_only=True):
    """First frame of both sides. The highest version that both speak is used."""

    versions: tuple[int, ...] = (PROTOCOL_VERSION,)
    features: tuple[str, ...] = ()
    """What this side can do beyond version 1; only what both name is used."""

    program: str = ""
    """Name and version, for people."""

    name: str = ""
    """Which agent or gateway, for people; identity comes from the certificate alone."""

    nodes: tuple[str, ...] = ()
    """An agent announces the nodes that it speaks for; only what its certificate holds counts."""

    window_bytes: Annotated[int, msgspec.Meta(ge=16_384, le=67_108_864)] = 1_048_576
    """What the other side may send on a stream before this one has read it."""

    gateways: tuple[str, ...] = ()
    """A gateway tells all gateways' addresses, so that agents connect to each."""


class Scrape(msgspec.Struct, frozen=True, kw_only=True, tag="scrape"):
    """Fetch one page from a node: answered by Reply, then the page as data."""

    node: str
    port: int
    path: str
    query: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    timeout_ms: int
    base: bytes = b""
    """Digest of the page that the answer may be packed against; empty: none."""

    is_tls: bool = False


class Pipe(msgspec.Struct, frozen=True, kw_only=True, tag="pipe"):
    """Connect to a port of a node: accepted when connected, then bytes both ways."""

    node: str
    port: int
    timeout_ms: int


class Call(msgspec.Struct, frozen=True, kw_only=True, tag="call"):
    """Ask the other side itself something by name (renew, health, backfill ...)."""

    method: str
    params: dict[str, Any] = {}
    timeout_ms: int = 10_000


Request = Scrape | Pipe | Call


class Reply(msgspec.Struct, frozen=True, kw_only=True):
    """What accepts a request; a page or further bytes follow as data."""

    status: int = 200
    """HTTP status of a scrape."""

    headers: tuple[tuple[str, str], ...] = ()
    packing: str = ""
    """`zstd`, `zstd-base` (against the page named by the request), or empty: plain."""

    digest: bytes = b""
    """Of the unpacked page: the base of the next one."""

    size: int = 0
    """Bytes of the unpacked page."""

    result: dict[str, Any] = {}
    """Of a call."""


class Refusal(msgspec.Struct, frozen=True, kw_only=True):
    """Why a stream was refused or reset; unknown codes of newer peers read as `failed`."""

    code: str
    text: str = ""


_encoder = msgspec.msgpack.Encoder()
_hello = msgspec.msgpack.Decoder(Hello)
_request = msgspec.msgpack.Decoder(Request)
_reply = msgspec.msgpack.Decoder(Reply)
_refusal = msgspec.msgpack.Decoder(Refusal)


def encode(value: Hello | Request | Reply | Refusal) -> bytes:
    """Return a payload."""
    return _encoder.encode(value)


def refusal(code: Code, text: str = "") -> bytes:
    """Return the payload of a refusal or reset; long texts are cut."""
    return _encoder.encode(Refusal(code=code, text=text[:1000]))


def decode_hello(payload: bytes) -> Hello:
    """Return the hello, or raise PeerProtocolError."""
    try:
        return _hello.decode(payload)
    except msgspec.MsgspecError as error:
        raise PeerProtocolError(f"unreadable hello: {error}") from error


def decode_request(payload: bytes) -> Request | None:
    """Return the request; None for one that this side does not know or cannot read."""
    try:
        return _request.decode(payload)
    except msgspec.MsgspecError:
        return None


def decode_reply(payload: bytes) -> Reply:
    """Return the reply, or raise PeerProtocolError."""
    try:
        return _reply.decode(payload)
    except msgspec.MsgspecError as error:
        raise PeerProtocolError(f"unreadable reply: {error}") from error


def decode_refusal(payload: bytes) -> tuple[Code, str]:
    """Return code and text, or raise PeerProtocolError."""
    try:
        found = _refusal.decode(payload)
    except msgspec.MsgspecError as error:
        raise PeerProtocolError(f"unreadable refusal: {error}") from error
    try:
        return Code(found.code), found.text
    except ValueError:
        return Code.FAILED, f"{found.code}: {found.text}"
