"""Pages on the wire: zstd, against the page before where both ends still hold it."""

from collections import OrderedDict
from dataclasses import dataclass
from hashlib import sha256

import zstandard

from gputide.errors import GputideError

LEVEL = 3
BASE_LEVEL = 3
"""Level 9 takes three times as long for a fifth less; 1 and 2 miss most of repetitive pages."""

DIGEST_BYTES = 12
MAX_PAGE_BYTES = 67_108_864

PLAIN, ZSTD, ZSTD_BASE = "", "zstd", "zstd-base"


class PageError(GputideError):
    """A packed page cannot be unpacked: ask for it whole."""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackedPage:
    """A page as it travels."""

    packing: str
    data: bytes
    digest: bytes
    """Of the page itself."""

    size: int


def digest_of(page: bytes) -> bytes:
    """Return what names a page."""
    return sha256(page).digest()[:DIGEST_BYTES]  # in hardware, where blake2 is not


def pack(page: bytes, base: bytes | None = None) -> PackedPage:
    """Return the page packed, against `base` where the other end holds that."""
    digest = digest_of(page)
    if base:
        dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
        # the match finder must see the whole base, or only its last part would be of use
        size = max(len(page) + len(base), 1)
        parameters = zstandard.ZstdCompressionParameters.from_level(
            BASE_LEVEL, source_size=size, dict_size=len(base), window_log=_window_log(size)
        )
        packer = zstandard.ZstdCompressor(dict_data=dictionary, compression_params=parameters)
        return PackedPage(
            packing=ZSTD_BASE, data=packer.compress(page), digest=digest, size=len(page)
        )
    data = zstandard.ZstdCompressor(level=LEVEL).compress(page)
    return PackedPage(packing=ZSTD, data=data, digest=digest, size=len(page))


def unpack(packed: PackedPage, base: bytes | None = None) -> bytes:
    """Return the page; raise PageError for one that is damaged, too large, or of another base."""
    if packed.size > MAX_PAGE_BYTES:
        raise PageError(f"a page of {packed.size} bytes; at most {MAX_PAGE_BYTES}")
    if packed.packing == PLAIN:
        page = packed.data
    elif packed.packing in (ZSTD, ZSTD_BASE):
        page = _decompress(packed, base if packed.packing == ZSTD_BASE else b"")
    else:
        raise PageError(f"unknown packing {packed.packing!r}")
    if len(page) != packed.size or digest_of(page) != packed.digest:
        raise PageError("the page is not the one that was sent")
    return page


def _decompress(packed: PackedPage, base: bytes | None) -> bytes:
    if base is None:
        raise PageError("packed against a page that this side does not hold")
    dictionary = None
    if base:
        dictionary = zstandard.ZstdCompressionDict(base, dict_type=zstandard.DICT_TYPE_RAWCONTENT)
    reader = zstandard.ZstdDecompressor(dict_data=dictionary, max_window_size=2**27)
    try:
        # a stream with a bound, for the size that a frame claims of itself is the sender's word
        with reader.stream_reader(packed.data) as stream:
            page = stream.read(packed.size + 1)
    except zstandard.ZstdError as error:
        raise PageError(f"a packed page cannot be unpacked: {error}") from error
    return bytes(page)


def _window_log(size: int) -> int:
    return min(max(size.bit_length(), 10), 27)


class PageShelf:
    """The last page of each target, kept compressed; the oldest go beyond the bound.

    One shelf a session on the agent's side, one shelf a session on the gateway's.
    """

    def __init__(self, *, max_bytes: int = 67_108_864) -> None:
        self._max_bytes = max_bytes
        self._pages: OrderedDict[str, tuple[bytes, bytes]] = OrderedDict()
        self._bytes = 0

    @property
    def size_bytes(self) -> int:
        """Bytes held."""
        return self._bytes

    def put(self, target: str, page: bytes, digest: bytes) -> None:
        """Keep a page as its target's last."""
        self.drop(target)
        packed = zstandard.ZstdCompressor(level=1).compress(page)
        self._pages[target] = (digest, packed)
        self._bytes += len(packed)
        while self._bytes > self._max_bytes and self._pages:
            _, (_, oldest) = self._pages.popitem(last=False)
            self._bytes -= len(oldest)

    def digest(self, target: str) -> bytes:
        """Return the digest of the last page; empty where none is held."""
        held = self._pages.get(target)
        return b"" if held is None else held[0]

    def get(self, target: str, digest: bytes) -> bytes | None:
        """Return the last page of a target if it is the one that is meant."""
        held = self._pages.get(target)
        if held is None or not digest or held[0] != digest:
            return None
        return zstandard.ZstdDecompressor().decompress(held[1], max_output_size=MAX_PAGE_BYTES)

    def drop(self, target: str) -> None:
        """Forget a target's page."""
        held = self._pages.pop(target, None)
        if held is not None:
            self._bytes -= len(held[1])
