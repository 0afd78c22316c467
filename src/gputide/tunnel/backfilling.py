"""The batch of offline pages as it travels from agent to gateway."""

import msgspec

from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

BACKFILL, CLOCK = "backfill", "clock"
"""Names of calls; `backfill` is also the feature that both must have."""

MAX_PAGES = 200
MAX_BATCH_BYTES = 33_554_432


class BackfillPage(msgspec.Struct, frozen=True, kw_only=True, array_like=True):
    """One page, packed against the batch's first one."""

    at_ms: int
    """Unix time in milliseconds when it was fetched, by the gateway's clock."""

    packing: str
    data: bytes
    digest: bytes
    size: int


class BackfillBatch(msgspec.Struct, frozen=True, kw_only=True):
    """Pages of one target, oldest first."""

    node: str
    port: int
    path: str
    pages: tuple[BackfillPage, ...]


def encode_batch(batch: BackfillBatch) -> bytes:
    """Return the batch's bytes."""
    return msgspec.msgpack.encode(batch)


def decode_batch(data: bytes) -> BackfillBatch:
    """Return the batch, or raise TunnelRefusedError."""
    try:
        batch = msgspec.msgpack.decode(data, type=BackfillBatch)
    except msgspec.MsgspecError as error:
        raise TunnelRefusedError(Code.BAD_REQUEST, f"no batch of pages: {error}") from error
    if not 0 < len(batch.pages) <= MAX_PAGES:
        raise TunnelRefusedError(Code.BAD_REQUEST, f"a batch has 1 to {MAX_PAGES} pages")
    return batch
