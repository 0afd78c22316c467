import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.kube.errors import KubeError
from gputide.kube.table import decode_table

COLUMNS = [{"name": "Name"}, {"name": "Pods"}, {"name": "Mode", "priority": 1}]


def body(*rows: list[object], columns: list[dict[str, object]] | None = None) -> bytes:
    found = [
        {
            "cells": cells,
            "object": {
                "metadata": {"name": f"n{n}", "namespace": "default", "resourceVersion": f"{n}"}
            },
        }
        for n, cells in enumerate(rows)
    ]
    table = {"kind": "Table", "columnDefinitions": columns or COLUMNS, "rows": found}
    return json.dumps(table).encode()


def lines(content: bytes, *, is_wide: bool = False, has_namespaces: bool = False) -> list[str]:
    table = decode_table(content, "GET /x", is_wide=is_wide, has_namespaces=has_namespaces)
    return table.lines(table.widths())


def test_columns_are_as_wide_as_their_longest_cell_and_at_least_six() -> None:
    assert lines(body(["a-long-name", 12, "x"], ["b", None, "y"])) == [
        "NAME          PODS",
        "a-long-name   12",
        "b             ",
    ]
    assert lines(body(["a", 1, "x"]), is_wide=True) == ["NAME   PODS   MODE", "a      1      x"]


def test_namespaces_stand_first_where_there_are_several() -> None:
    assert lines(body(["a", 1, ""]), has_namespaces=True)[1] == "default     a      1"


def test_a_row_by_itself_keeps_the_widths_of_the_first_table() -> None:
    first = decode_table(body(["a-long-name", 12, "x"]), "GET /x")
    later = decode_table(body(["b", 3, "x"]), "GET /x")

    assert later.lines(first.widths(), has_headers=False) == ["b             3"]
    assert later.versions == {("default", "n0"): "0"}


@pytest.mark.parametrize(
    ("cell", "text"),
    [
        *((True, "true"), (1.5, "1.5"), ([1], "[1]"), ("one\ntwo", "one...")),
        ("\x1b[31mred", "\ufffd[31mred"),
    ],
)
def test_a_cell_is_one_line_that_cannot_steer_a_terminal(cell: object, text: str) -> None:
    assert lines(body(["a", cell, ""]))[1] == f"a      {text}"


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"[]", b"<html>", b'{"kind": "PodList", "items": []}', b'{"rows": []}'),
        b"[" * 100_000,
        body(["too", "few"]),
        body(["a", 1, 2, 3]),
    ],
)
def test_what_is_no_table_is_told_as_such(content: bytes) -> None:
    with pytest.raises(KubeError, match="answers with"):
        decode_table(content, "GET /x")


@given(cells=st.lists(st.text(max_size=20), min_size=1, max_size=5))
def test_any_texts_are_printed_on_a_line_each(cells: list[str]) -> None:
    found = lines(body(*([cell, cell, ""] for cell in cells)))

    assert len(found) == len(cells) + 1
    assert all(len(line.splitlines()) <= 1 for line in found)
