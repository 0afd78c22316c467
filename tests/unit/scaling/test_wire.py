"""The shape of the resource: names, defaults, and that nothing unknown slips through."""

from pathlib import Path

import msgspec
import pytest

from gputide.scaling import wire


def fields_of(schema: dict) -> set[str]:
    """Every property name in a JSON schema."""
    names = set()
    for part in schema.values():
        for item in part if isinstance(part, list) else [part]:
            if isinstance(item, dict):
                names |= set(item.get("properties", {})) | fields_of(item)
    return names


def test_the_vendors_fields_are_all_there_in_camel_case() -> None:
    names = fields_of(msgspec.json.schema(wire.Resource))
    vendors = {
        "apiVersion", "kind", "metadata", "spec", "status", "scaleTargetRef", "metrics", "resource",
        "external", "pods", "name", "target", "type", "averageUtilization", "averageValue", "value",
        "minReplicas", "maxReplicas", "stabilizationWindowSeconds", "prediction", "quantile",
        "scaleUpForward", "scaleStrategy", "instanceBounds", "startTime", "endTime", "bounds",
        "cron",
    }  # fmt: skip
    assert vendors <= names


def test_our_additions_are_optional() -> None:
    (schema,), components = msgspec.json.schema_components([wire.Spec])
    del schema
    assert components["Spec"]["required"] == ["metrics", "maxReplicas"]
    ours = {
        "timeZone",
        "reactiveTarget",
        "behavior",
        "scaleInDeadBandPercent",
        "forecastCapPercent",
        "scaleInOnForecastAlone",
        "recoveryGraceSeconds",
    }
    assert ours <= set(components["Spec"]["properties"])


@pytest.mark.parametrize(
    "struct",
    [
        struct
        for struct in vars(wire).values()
        if isinstance(struct, type) and issubclass(struct, wire.Strict)
    ],
)
def test_a_field_that_nobody_knows_is_refused(struct: type) -> None:
    with pytest.raises(msgspec.ValidationError, match="unknown field `typo`"):
        msgspec.convert({"typo": 1}, struct)


def test_metadata_may_hold_what_a_server_adds() -> None:
    assert msgspec.convert({"name": "a", "uid": "1"}, wire.Metadata).namespace == "default"


def test_every_field_is_in_the_reference() -> None:
    page = Path(__file__).parents[3] / "docs" / "reference" / "ahpa-resource.md"
    text = page.read_text()
    names = fields_of(msgspec.json.schema(wire.Resource))
    assert [name for name in sorted(names) if name not in text] == []
