"""The server's Table, printed as kubectl prints it."""

from collections.abc import Sequence
from typing import Any

import msgspec

from gputide.kube.errors import KubeError

ACCEPT = "application/json;as=Table;v=v1;g=meta.k8s.io,application/json"
MIN_WIDTH, PADDING = 6, 3
"""Of a column, in characters: kubectl's."""


class _Column(msgspec.Struct, frozen=True):
    name: str
    priority: int = 0


class _Metadata(msgspec.Struct, frozen=True, rename="camel"):
    name: str = ""
    namespace: str = ""
    resource_version: str = ""


class _Object(msgspec.Struct, frozen=True):
    metadata: _Metadata = _Metadata()


class _Row(msgspec.Struct, frozen=True):
    cells: list[Any]
    object: _Object = _Object()


class _Table(msgspec.Struct, frozen=True, rename="camel"):
    kind: str
    column_definitions: list[_Column] = []
    rows: list[_Row] = []


class Table(msgspec.Struct, frozen=True, kw_only=True):
    """Headers, and a row of texts an object."""

    headers: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    versions: dict[tuple[str, str], str]
    """resourceVersion by namespace and name."""

    def widths(self) -> list[int]:
        """Return what each column takes, its padding included."""
        lines = (self.headers, *self.rows)
        return [
            max(MIN_WIDTH, max(len(cell) for cell in column) + PADDING)
            for column in zip(*lines, strict=True)
        ]

    def lines(self, widths: Sequence[int], *, has_headers: bool = True) -> list[str]:
        """Return the lines; only the last column is not padded."""
        wanted = (self.headers, *self.rows) if has_headers else self.rows
        return ["".join(_padded(line, widths)) for line in wanted]


def _padded(cells: Sequence[str], widths: Sequence[int]) -> list[str]:
    *first, last = cells
    return [*(cell.ljust(width) for cell, width in zip(first, widths, strict=False)), last]


def decode_table(
    body: bytes, target: str, *, is_wide: bool = False, has_namespaces: bool = False
) -> Table:
    """Return the columns that are shown; raise KubeError for anything but a Table."""
    try:
        found = msgspec.json.decode(body, type=_Table)
    except (msgspec.MsgspecError, UnicodeError, RecursionError) as error:
        raise KubeError(target, f"answers with no table: {error}") from error
    shown = [n for n, one in enumerate(found.column_definitions) if is_wide or one.priority == 0]
    count = len(found.column_definitions)
    if not shown or any(len(row.cells) != count for row in found.rows):
        raise KubeError(target, "answers with a table whose rows do not fit its columns")
    headers = [found.column_definitions[n].name.upper() for n in shown]
    rows = [[_text(row.cells[n]) for n in shown] for row in found.rows]
    if has_namespaces:
        headers.insert(0, "NAMESPACE")
        for row, made in zip(found.rows, rows, strict=True):
            made.insert(0, row.object.metadata.namespace)
    of = [row.object.metadata for row in found.rows]
    return Table(
        headers=tuple(headers),
        rows=tuple(tuple(row) for row in rows),
        versions={(one.namespace, one.name): one.resource_version for one in of},
    )


def _text(cell: Any) -> str:  # noqa: ANN401  any JSON
    """Return a cell in one line that cannot steer a terminal."""
    if cell is None:
        return ""
    if isinstance(cell, bool):
        return str(cell).lower()
    text = cell if isinstance(cell, str) else msgspec.json.encode(cell).decode()
    first, *more = text.splitlines() or [""]
    shown = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in first)
    return f"{shown}..." if more else shown
