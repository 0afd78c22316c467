from typing import Annotated, Any

import msgspec
import pytest

from gputide.autoscaler.crd.schema import structural_schema


class Inner(msgspec.Struct, kw_only=True, forbid_unknown_fields=True):
    """Within."""

    count: int | None = None
    amount: float | str | None = None


class Outer(msgspec.Struct, kw_only=True):
    """Around."""

    inner: Inner
    many: list[Inner] = []
    labels: dict[str, str] = {}
    anything: Any = None
    small: Annotated[int, msgspec.Meta(ge=1)] = 1


def test_references_are_inlined_and_what_kubernetes_refuses_is_dropped() -> None:
    inner = {
        "description": "Within.",
        "type": "object",
        "properties": {
            "count": {"type": "integer"},
            "amount": {"x-kubernetes-int-or-string": True},
        },
        "required": [],
    }
    assert structural_schema(Outer, {}) == {
        "description": "Around.",
        "type": "object",
        "properties": {
            "inner": inner,
            "many": {"type": "array", "items": inner},
            "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            "anything": {"type": "string"},
            "small": {"type": "integer", "minimum": 1},
        },
        "required": ["inner"],
    }


def test_notes_are_added_by_path_and_a_wrong_path_is_an_error() -> None:
    made = structural_schema(Outer, {"many[].count": {"minimum": 3}})
    assert made["properties"]["many"]["items"]["properties"]["count"]["minimum"] == 3
    assert "minimum" not in made["properties"]["inner"]["properties"]["count"]
    with pytest.raises(KeyError, match=r"many\[\].cuont"):
        structural_schema(Outer, {"many[].cuont": {"minimum": 3}})
