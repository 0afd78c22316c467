"""The newest page as bytes, made and compressed once for however many scrapes."""

import zlib

from gputide.exporter.http.negotiate import Encoding
from gputide.exporter.page.model import Page
from gputide.exposition import Format

_GZIP_LEVEL = 1
"""A page shrinks to a fiftieth at level 1 already; higher ones cost three times the time."""

_GZIP_WINDOW_BITS = 31
"""zlib's way to say: with gzip's header and checksum."""

_ZSTD_LEVEL = 1


class Published:
    """A page for serving; what differs from scrape to scrape (the tail) is put behind it.

    Of a compressed page all but the tail is compressed already: gzip goes on from a copy of its
    state, zstd takes the tail as one more frame.
    """

    def __init__(self, page: Page) -> None:
        self._page = page
        self._bodies: dict[Format, bytes] = {}
        self._gzip: dict[Format, tuple[bytes, zlib._Compress]] = {}
        self._zstd: dict[Format, bytes] = {}

    def encode(self, target: Format, encoding: Encoding, tail: bytes) -> bytes:
        """Return the whole page in that format and compression."""
        if encoding is Encoding.GZIP:
            return self._encode_gzip(target, tail)
        if encoding is Encoding.ZSTD:
            return self._encode_zstd(target, tail)
        return self._body(target) + tail

    def _body(self, target: Format) -> bytes:
        body = self._bodies.get(target)
        if body is None:
            body = self._bodies[target] = self._page.body(target)
        return body

    def _encode_gzip(self, target: Format, tail: bytes) -> bytes:
        if target not in self._gzip:
            compressor = zlib.compressobj(_GZIP_LEVEL, zlib.DEFLATED, _GZIP_WINDOW_BITS)
            begun = compressor.compress(self._body(target))
            self._gzip[target] = begun + compressor.flush(zlib.Z_SYNC_FLUSH), compressor
        begun, compressor = self._gzip[target]
        rest = compressor.copy()
        return b"".join((begun, rest.compress(tail), rest.flush()))

    def _encode_zstd(self, target: Format, tail: bytes) -> bytes:
        import zstandard  # few scrapers ask for it, and it has its memory

        compressor = zstandard.ZstdCompressor(level=_ZSTD_LEVEL)
        if target not in self._zstd:
            self._zstd[target] = compressor.compress(self._body(target))
        return self._zstd[target] + compressor.compress(tail)
