from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.errors import InputError
from gputide.kube.documents import MAX_BYTES, read_documents

HEAD = "apiVersion: v1\nkind: ConfigMap\nmetadata: {name: one}\n"


def value_of(text: str) -> object:
    (document,) = read_documents(f"{HEAD}data: {{key: {text}}}".encode(), "f.yaml")
    return document.obj["data"]["key"]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        *(("2022-11-08", "2022-11-08"), ("2022-11-08 10:00:00", "2022-11-08 10:00:00")),
        *(("9:30", "9:30"), ("190:20:30", "190:20:30"), ("'7'", "7")),
        *(("12", 12), ("-3", -3), ("0", 0), ("0644", 0o644), ("0x1f", 31), ("1.5", 1.5)),
        *(("true", True), ("~", None), ("5m", "5m"), ("1e3x", "1e3x")),
    ],
)
def test_values_are_read_as_kubernetes_reads_them(text: str, value: object) -> None:
    found = value_of(text)

    assert found == value
    assert type(found) is type(value)


def test_documents_come_in_their_order_with_their_places() -> None:
    text = f"---\n{HEAD}---\n# nothing\n---\n{HEAD.replace('one', 'two')}"

    found = read_documents(text.encode(), "f.yaml")

    assert [(one.name, one.place) for one in found] == [
        ("one", "f.yaml: document 1"),
        ("two", "f.yaml: document 3"),
    ]
    assert (found[0].api_version, found[0].kind, found[0].namespace) == ("v1", "ConfigMap", "")


def test_a_mark_at_the_beginning_is_no_part_of_the_text() -> None:
    assert read_documents(b"\xef\xbb\xbf" + HEAD.encode(), "f.yaml")[0].name == "one"


def test_an_anchor_may_be_used_and_overridden() -> None:
    text = f"{HEAD}data:\n  a: &a {{x: '1', y: '2'}}\n  b: {{<<: *a, y: '3'}}\n"

    assert read_documents(text.encode(), "f")[0].obj["data"]["b"] == {"x": "1", "y": "3"}


@pytest.mark.parametrize(
    "content",
    [
        *(b"", b"---\n---\n", b"\xff", b"a: [", b"3", b"[]", b"a: b", b"\x00", b"!!python/x y"),
        b"a: " + b"[" * 5000,
        b"x" * (MAX_BYTES + 1),
        b"kind: ConfigMapList\napiVersion: v1\nitems: []",
        b"kind: List\napiVersion: v1\nitems: [3]",
        f"{HEAD}data: {{a: 1, a: 2}}".encode(),
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: a, namespace: 3}",
        b"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: 3}",
    ],
)
def test_what_is_no_manifest_is_told_with_its_place(content: bytes) -> None:
    with pytest.raises(InputError) as caught:
        read_documents(content, "f.yaml")

    assert caught.value.place.startswith("f.yaml")
    assert "\n" not in str(caught.value)


@given(content=st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(content: bytes) -> None:
    with suppress(InputError):
        assert read_documents(content, "f.yaml")
