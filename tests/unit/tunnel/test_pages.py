from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.tunnel.pages import PackedPage, PageError, PageShelf, digest_of, pack, unpack

VALUES = Random(1)
PAGE = b"".join(
    b'DCGM_FI_DEV_GPU_UTIL{gpu="%d",Hostname="edge-gpu-001"} %d\n' % (n % 8, VALUES.randrange(101))
    for n in range(800)
)


@given(page=st.binary(max_size=3000), base=st.binary(max_size=3000))
def test_a_page_comes_back_as_it_was_with_and_without_a_base(page: bytes, base: bytes) -> None:
    assert unpack(pack(page)) == page
    assert unpack(pack(page, base), base) == page


def test_a_page_against_the_one_before_is_far_smaller() -> None:
    later = PAGE.replace(b"} 37\n", b"} 38\n")
    assert len(pack(later, PAGE).data) * 5 < len(pack(later).data)


def test_a_page_against_a_base_that_is_not_held_is_refused() -> None:
    packed = pack(PAGE, PAGE)
    with pytest.raises(PageError, match="does not hold"):
        unpack(packed, None)
    with pytest.raises(PageError):
        unpack(packed, b"another page altogether" * 40)


@pytest.mark.parametrize(
    ("packed", "message"),
    [
        (PackedPage(packing="zstd", data=b"noise", digest=b"", size=5), "cannot be unpacked"),
        (PackedPage(packing="lzma", data=b"", digest=b"", size=0), "unknown packing 'lzma'"),
        (PackedPage(packing="", data=b"", digest=b"", size=2**40), "at most"),
        (PackedPage(packing="", data=b"x", digest=digest_of(b"y"), size=1), "not the one"),
    ],
)
def test_a_page_that_lies_is_refused(packed: PackedPage, message: str) -> None:
    with pytest.raises(PageError, match=message):
        unpack(packed)


def test_a_page_that_unpacks_to_more_than_it_says_is_cut_off_and_refused() -> None:
    bomb = pack(bytes(10_000_000))
    lie = PackedPage(packing=bomb.packing, data=bomb.data, digest=bomb.digest, size=100)
    with pytest.raises(PageError, match="not the one"):
        unpack(lie)


def test_a_shelf_holds_the_last_page_of_each_target_within_its_bound() -> None:
    shelf = PageShelf(max_bytes=2_500)
    shelf.put("a", b"first", digest_of(b"first"))
    shelf.put("a", PAGE, digest_of(PAGE))
    assert shelf.get("a", digest_of(PAGE)) == PAGE
    assert shelf.get("a", digest_of(b"first")) is None
    assert shelf.digest("unknown") == b""

    for name in ("b", "c", "d", "e", "f"):
        other = PAGE + name.encode()
        shelf.put(name, other, digest_of(other))
    assert shelf.size_bytes <= 2_500
    assert shelf.digest("a") == b""
    assert shelf.digest("f") != b""
