import zlib

import pytest
import zstandard

from fakes.gpu_nodes import t4
from gputide.exporter.http.negotiate import Encoding
from gputide.exporter.http.published import Published
from gputide.exporter.render import render
from gputide.exposition import Format, parse

TAIL = b"# HELP own Own.\n# TYPE own gauge\nown 1\n"


def unpacked(body: bytes, encoding: Encoding) -> bytes:
    if encoding is Encoding.GZIP:
        return zlib.decompress(body, wbits=31)
    if encoding is Encoding.ZSTD:
        reader = zstandard.ZstdDecompressor().stream_reader(body, read_across_frames=True)
        return reader.read()
    return body


@pytest.mark.parametrize("encoding", Encoding)
@pytest.mark.parametrize("target", Format)
def test_every_encoding_holds_the_same_page_and_tail(encoding: Encoding, target: Format) -> None:
    page = render(t4())
    end = TAIL + (b"# EOF\n" if target is Format.OPENMETRICS else b"")
    published = Published(page)

    for _ in range(2):  # made the first time, kept the second
        body = unpacked(published.encode(target, encoding, end), encoding)
        assert body == page.body(target) + end
    assert parse(body, target)[-1].name == "own"


def test_a_page_shrinks_much() -> None:
    published = Published(render(t4()))

    plain = published.encode(Format.TEXT, Encoding.IDENTITY, TAIL)
    assert len(published.encode(Format.TEXT, Encoding.GZIP, TAIL)) < len(plain) / 4
