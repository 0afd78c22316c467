import stat
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import InputError
from gputide.tunnel.agent.offline.spool import KEYFRAME_PAGES, Spool
from gputide.tunnel.protocol import Scrape


def target(node: str) -> Scrape:
    return Scrape(node=node, port=9400, path="/metrics", timeout_ms=1000)


def page(number: int) -> bytes:
    return b"".join(b'metric{gpu="%d"} %d\n' % (n, n * number % 97) for n in range(300))


def test_pages_come_back_oldest_first_by_target(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.db", max_bytes=10_000_000) as spool:
        for number in range(5):
            spool.put(target("a"), page(number), at_ms=number)
            spool.put(target("b"), page(number + 50), at_ms=number)
        batch = spool.oldest()
        assert batch is not None
        assert batch.request == target("a")
        assert [(one.at_ms, one.page) for one in batch.pages] == [(n, page(n)) for n in range(5)]
        spool.drop(one.id for one in batch.pages)
        assert spool.page_count == 5
        later = spool.oldest()
        assert later is not None
        assert later.request == target("b")
        spool.drop(one.id for one in later.pages)
        assert (spool.oldest(), spool.page_count, spool.size_bytes) == (None, 0, 0)


def test_a_page_against_the_first_takes_little_room(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.db", max_bytes=10_000_000) as spool:
        spool.put(target("a"), page(1), at_ms=0)
        whole = spool.size_bytes
        spool.put(target("a"), page(1).replace(b"} 5\n", b"} 6\n"), at_ms=1)
        assert spool.size_bytes - whole < whole / 3


def test_a_whole_page_stays_while_others_rest_on_it(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.db", max_bytes=10_000_000) as spool:
        for number in range(3):
            spool.put(target("a"), page(number), at_ms=number)
        batch = spool.oldest(most=1)
        assert batch is not None
        spool.drop(one.id for one in batch.pages)
        rest = spool.oldest()
        assert rest is not None
        assert [one.page for one in rest.pages] == [page(1), page(2)]


def test_beyond_its_bound_the_oldest_go_and_are_counted(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.db", max_bytes=20_000) as spool:
        for number in range(KEYFRAME_PAGES * 3):
            spool.put(target("a"), page(number), at_ms=number)
        assert spool.size_bytes <= 25_000
        lost = spool.lost
        batch = spool.oldest()
        assert batch is not None
        assert lost.pages + spool.page_count == KEYFRAME_PAGES * 3
        assert (lost.oldest_ms, lost.newest_ms) == (0, lost.pages - 1)
        assert batch.pages[0].at_ms == lost.pages
        assert batch.pages[0].page == page(lost.pages)


def test_what_is_kept_outlives_the_process_for_its_owner_alone(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    with Spool(path, max_bytes=10_000_000) as spool:
        spool.put(target("a"), page(1), at_ms=7)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    with Spool(path, max_bytes=10_000_000) as spool:
        assert spool.page_count == 1
        spool.put(target("a"), page(2), at_ms=8)
        batch = spool.oldest()
        assert batch is not None
        assert [one.page for one in batch.pages] == [page(1), page(2)]


def test_an_ask_that_was_only_late_takes_its_page_back(tmp_path: Path) -> None:
    with Spool(tmp_path / "spool.db", max_bytes=10_000_000) as spool:
        for number in range(4):
            spool.put(target("a"), page(number), at_ms=number * 1000)
        spool.drop_since(target("a"), at_ms=3000)
        batch = spool.oldest()
        assert batch is not None
        assert [one.at_ms for one in batch.pages] == [0, 1000, 2000]


def test_a_file_that_is_no_spool_is_named(tmp_path: Path) -> None:
    path = tmp_path / "spool.db"
    path.write_bytes(b"noise" * 1000)
    with pytest.raises(InputError, match=r"spool\.db: cannot hold the spool"):
        Spool(path, max_bytes=1000)


@settings(deadline=None, max_examples=20)
@given(steps=st.lists(st.tuples(st.sampled_from("ab"), st.booleans()), max_size=40))
def test_nothing_is_lost_or_doubled_whatever_the_order(
    steps: list[tuple[str, bool]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    kept: list[tuple[str, int]] = []
    got: list[tuple[str, int]] = []
    with Spool(tmp_path_factory.mktemp("s") / "spool.db", max_bytes=10_000_000) as spool:
        for number, (node, is_put) in enumerate(steps):
            if is_put:
                spool.put(target(node), page(number), at_ms=number)
                kept.append((node, number))
            elif batch := spool.oldest(most=2):
                got += [(batch.request.node, one.at_ms) for one in batch.pages]
                assert all(one.page == page(one.at_ms) for one in batch.pages)
                spool.drop(one.id for one in batch.pages)
        while batch := spool.oldest():
            got += [(batch.request.node, one.at_ms) for one in batch.pages]
            spool.drop(one.id for one in batch.pages)
    assert sorted(got) == sorted(kept)
