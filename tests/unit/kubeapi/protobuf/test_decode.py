import pytest
from hypothesis import given
from hypothesis import strategies as st

from fakes.refusals import code_of
from gputide.kubeapi.protobuf import decoded

MAGIC = b"k8s\0"


def varint(value: int) -> bytes:
    out = b""
    while True:
        byte, value = value & 0x7F, value >> 7
        out += bytes([byte | (0x80 if value else 0)])
        if not value:
            return out


def number(field: int, value: int) -> bytes:
    return varint(field << 3) + varint(value)


def text(field: int, value: bytes | str) -> bytes:
    data = value.encode() if isinstance(value, str) else value
    return varint(field << 3 | 2) + varint(len(data)) + data


def pair(field: int, key: str, value: bytes | str) -> bytes:
    return text(field, text(1, key) + text(2, value))


def body(kind: str, content: bytes, version: str = "v1") -> bytes:
    head = text(1, text(1, version) + text(2, kind))
    return MAGIC + head + text(2, content) + text(3, "") + text(4, "")


def test_a_config_map_is_read_as_json_would_have_it() -> None:
    metadata = text(1, "c1") + text(3, "default") + text(8, b"") + pair(11, "app", "web")
    content = text(1, metadata) + pair(2, "a", "b") + pair(3, "bin", b"\x00\xff") + number(4, 0)
    assert decoded(body("ConfigMap", content)) == {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": "c1", "namespace": "default", "labels": {"app": "web"}},
        "data": {"a": "b"},
        "binaryData": {"bin": "AP8="},
        "immutable": False,
    }


def test_a_service_keeps_its_ports() -> None:
    target = number(1, 0) + number(2, 8080) + text(3, "")
    port = text(1, "http") + text(2, "TCP") + number(3, 80) + text(4, target) + number(5, 0)
    named = text(1, "x") + number(3, 81) + text(4, number(1, 1) + number(2, 0) + text(3, "web"))
    spec = text(1, port) + text(1, named) + text(4, "ClusterIP") + number(13, 0)
    found = decoded(body("Service", text(1, text(1, "s")) + text(2, spec) + text(3, text(1, b""))))
    assert found["spec"] == {
        "ports": [
            {"name": "http", "protocol": "TCP", "port": 80, "targetPort": 8080},
            {"name": "x", "port": 81, "targetPort": "web"},
        ],
        "type": "ClusterIP",
    }


def test_a_time_is_written_as_text() -> None:
    metadata = text(1, "a") + text(8, number(1, 86400) + number(2, 0))
    found = decoded(body("Namespace", text(1, metadata)))
    assert found["metadata"]["creationTimestamp"] == "1970-01-02T00:00:00Z"


def test_what_is_not_known_is_refused_and_not_dropped() -> None:
    assert code_of(lambda: decoded(body("Pod", b""))) == 415
    assert code_of(lambda: decoded(body("ConfigMap", text(9, "new")))) == 415
    assert code_of(lambda: decoded(body("ConfigMap", text(9, "")))) is None


@pytest.mark.parametrize(
    "broken",
    [
        b"",
        b"{}",
        MAGIC,
        MAGIC + b"\x0a\xff",
        body("ConfigMap", b"\x0a\x7f"),
        body("ConfigMap", number(1, 1)),
        body("ConfigMap", b"\x0b"),
        body("Namespace", text(1, text(1, b"\xff"))),
        body("Namespace", text(1, text(8, number(1, 2**63 - 1)))),
        body("ConfigMap", b"\xff" * 12),
    ],
)
def test_what_is_broken_is_refused(broken: bytes) -> None:
    assert code_of(lambda: decoded(broken)) in (400, 415)


@given(st.binary(max_size=80))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    assert code_of(lambda: decoded(body("Deployment", data))) in (None, 400, 415)
    assert code_of(lambda: decoded(MAGIC + data)) in (None, 400, 415)
