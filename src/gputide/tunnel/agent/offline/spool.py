"""Pages kept on disk, oldest first out; bounded, and honest about what was pushed out."""

import sqlite3
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Self

import msgspec

from gputide.errors import InputError
from gputide.tunnel.agent.offline.schedule import key_of
from gputide.tunnel.pages import PackedPage, pack, unpack
from gputide.tunnel.protocol import Scrape

KEYFRAME_PAGES = 40
"""Pages packed against one whole page; a damaged one costs no more than these."""

_SCHEMA = """
PRAGMA journal_mode = WAL;
PRAGMA synchronous = NORMAL;
PRAGMA auto_vacuum = INCREMENTAL;
CREATE TABLE IF NOT EXISTS page (
  id INTEGER PRIMARY KEY,
  at_ms INTEGER NOT NULL,
  target TEXT NOT NULL,
  request BLOB NOT NULL,
  keyframe INTEGER,
  data BLOB NOT NULL,
  digest BLOB NOT NULL,
  size INTEGER NOT NULL
);
CREATE INDEX IF NOT EXISTS page_target ON page (target, id);
CREATE TABLE IF NOT EXISTS lost (pages INTEGER NOT NULL, oldest_ms INTEGER, newest_ms INTEGER);
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SpooledPage:
    """One page and when it was fetched."""

    id: int
    at_ms: int
    page: bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """The oldest pages of one target."""

    request: Scrape
    pages: tuple[SpooledPage, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Lost:
    """What the bound pushed out since the spool was made."""

    pages: int
    oldest_ms: int | None
    newest_ms: int | None


class Spool:
    """One file. Calls block for a moment (a page is a few hundred bytes): no thread needed."""

    def __init__(self, path: Path, *, max_bytes: int) -> None:
        self._path = path
        self._max_bytes = max_bytes
        self._keyframes: dict[str, tuple[int, bytes, int]] = {}
        try:
            path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            path.touch(mode=0o600)
            self._db = sqlite3.connect(path, isolation_level=None)
            self._db.executescript(_SCHEMA)
        except (OSError, sqlite3.Error) as error:
            raise InputError(str(path), f"cannot hold the spool: {error}") from error
        found = self._db.execute("SELECT coalesce(sum(length(data)), 0), count(*) FROM page")
        self.size_bytes, self.page_count = found.fetchone()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._db.close()

    def put(self, request: Scrape, page: bytes, *, at_ms: int) -> None:
        """Keep a page; the oldest ones go where it would not fit. Raises InputError."""
        key = key_of(request)
        keyframe = self._keyframes.get(key)
        base = None
        if keyframe is not None and keyframe[2] < KEYFRAME_PAGES:
            base = keyframe[1]
        packed = pack(page, base)
        row = (
            at_ms,
            key,
            msgspec.msgpack.encode(request),
            keyframe[0] if keyframe is not None and base is not None else None,
            packed.data,
            packed.digest,
            packed.size,
        )
        try:
            with self._db:
                cursor = self._db.execute(
                    "INSERT INTO page (at_ms, target, request, keyframe, data, digest, size)"
                    " VALUES (?, ?, ?, ?, ?, ?, ?)",
                    row,
                )
        except sqlite3.Error as error:
            raise InputError(str(self._path), f"cannot keep a page: {error}") from error
        self.size_bytes += len(packed.data)
        self.page_count += 1
        if base is None:
            self._keyframes[key] = (int(cursor.lastrowid or 0), page, 0)
        elif keyframe is not None:
            self._keyframes[key] = (keyframe[0], keyframe[1], keyframe[2] + 1)
        if self.size_bytes > self._max_bytes:
            self._push_out()

    def oldest(self, *, most: int = KEYFRAME_PAGES) -> Batch | None:
        """Return the oldest pages of the target that has the oldest one; None when empty."""
        first = self._db.execute(
            "SELECT target FROM page WHERE target != '' ORDER BY id LIMIT 1"
        ).fetchone()
        if first is None:
            return None
        rows = self._db.execute(
            "SELECT id, at_ms, request, keyframe, data, digest, size FROM page"
            " WHERE target = ? ORDER BY id LIMIT ?",
            (first[0], most),
        ).fetchall()
        request = msgspec.msgpack.decode(rows[0][2], type=Scrape)
        bases: dict[int, bytes] = {}
        pages = []
        for number, at_ms, _, keyframe, data, digest, size in rows:
            if keyframe is not None and keyframe not in bases:
                bases[keyframe] = self._whole(keyframe)
            packing = "zstd" if keyframe is None else "zstd-base"
            packed = PackedPage(packing=packing, data=data, digest=digest, size=size)
            page = unpack(packed, bases.get(keyframe) if keyframe is not None else None)
            if keyframe is None:
                bases[number] = page
            pages.append(SpooledPage(id=number, at_ms=at_ms, page=page))
        return Batch(request=request, pages=tuple(pages))

    def drop(self, ids: Iterable[int]) -> None:
        """Forget pages that were delivered; whole pages stay while others are packed against them.

        A page kept so is marked, and never delivered again.
        """
        numbers = [(number,) for number in ids]
        with self._db:
            self._db.executemany("UPDATE page SET target = '' WHERE id = ?", numbers)
        self._clean()

    def drop_since(self, request: Scrape, *, at_ms: int) -> None:
        """Forget the pages of a target from that time on: the ask came late, and got its page."""
        rows = self._db.execute(
            "SELECT id FROM page WHERE target = ? AND at_ms >= ?", (key_of(request), at_ms)
        ).fetchall()
        self.drop(number for (number,) in rows)

    @property
    def lost(self) -> Lost:
        """What was pushed out."""
        pages, oldest, newest = self._db.execute(
            "SELECT coalesce(sum(pages), 0), min(oldest_ms), max(newest_ms) FROM lost"
        ).fetchone()
        return Lost(pages=pages, oldest_ms=oldest, newest_ms=newest)

    def _whole(self, number: int) -> bytes:
        row = self._db.execute(
            "SELECT data, digest, size FROM page WHERE id = ?", (number,)
        ).fetchone()
        if row is None:
            raise InputError(str(self._path), "a page's base is missing")
        packed = PackedPage(packing="zstd", data=row[0], digest=row[1], size=row[2])
        return unpack(packed)

    def _push_out(self) -> None:
        """Drop the oldest tenth, whole groups of pages, and note what was lost."""
        rows = self._db.execute(
            "SELECT id, at_ms, length(data) FROM page WHERE target != '' ORDER BY id"
        )
        wanted = self._max_bytes // 10
        gone, size = [], 0
        for number, at_ms, length in rows:
            if size >= wanted:
                break
            gone.append((number, at_ms))
            size += length
        if not gone:
            return
        with self._db:
            times = [at_ms for _, at_ms in gone]
            self._db.execute(
                "INSERT INTO lost VALUES (?, ?, ?)", (len(gone), min(times), max(times))
            )
        self.drop(number for number, _ in gone)

    def _clean(self) -> None:
        """Remove what is delivered and no base of others; count anew."""
        with self._db:
            self._db.execute(
                "DELETE FROM page WHERE target = '' AND id NOT IN"
                " (SELECT keyframe FROM page WHERE keyframe IS NOT NULL AND target != '')"
            )
        self._db.execute("PRAGMA incremental_vacuum")
        kept = {row[0] for row in self._db.execute("SELECT id FROM page WHERE keyframe IS NULL")}
        self._keyframes = {k: v for k, v in self._keyframes.items() if v[0] in kept}
        found = self._db.execute(
            "SELECT coalesce(sum(length(data)), 0), sum(target != '') FROM page"
        ).fetchone()
        self.size_bytes, self.page_count = found[0], found[1] or 0
