import pytest

from gputide.tunnel.backfilling import BackfillBatch, BackfillPage, decode_batch, encode_batch
from gputide.tunnel.model import TunnelRefusedError
from gputide.tunnel.protocol import Code

PAGE = BackfillPage(at_ms=5, packing="zstd", data=b"x", digest=b"d", size=1)


def batch(pages: int) -> BackfillBatch:
    return BackfillBatch(node="n", port=9400, path="/metrics", pages=(PAGE,) * pages)


def test_a_batch_comes_back_as_it_was() -> None:
    assert decode_batch(encode_batch(batch(3))) == batch(3)


@pytest.mark.parametrize("data", [b"", b"noise", encode_batch(batch(0)), encode_batch(batch(201))])
def test_what_is_no_batch_is_a_bad_request(data: bytes) -> None:
    with pytest.raises(TunnelRefusedError) as caught:
        decode_batch(data)
    assert caught.value.code is Code.BAD_REQUEST
