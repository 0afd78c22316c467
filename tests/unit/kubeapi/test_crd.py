import pytest

from gputide.kubeapi.crd import kind_from_crd, rules_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import JsonObject, Kind, Scope


def crd(**version: object) -> JsonObject:
    """Return a definition with one version of that content."""
    every = {"name": "v1", "served": True, "storage": True}
    return {
        "metadata": {"name": "tides.x.io"},
        "spec": {
            "group": "x.io",
            "scope": "Namespaced",
            "names": {
                "kind": "Tide",
                "plural": "tides",
                "shortNames": ["td"],
                "categories": ["all"],
            },
            "versions": [every | version],
        },
    }


def one(definition: JsonObject) -> Kind:
    (kind,) = kind_from_crd(definition)
    return kind


COLUMNS = [
    {"name": "Target(%)", "type": "integer", "jsonPath": ".spec.target"},
    {"name": "Share", "type": "number", "jsonPath": ".spec.share", "priority": 1},
    {"name": "On", "type": "boolean", "jsonPath": ".spec.on"},
    {
        "name": "Ready",
        "type": "string",
        "jsonPath": '.status.conditions[?(@.type=="Ready")].status',
    },
    {"name": "Age", "type": "date", "jsonPath": ".metadata.creationTimestamp"},
]


def cells(kind: Kind, obj: JsonObject) -> list:
    return [column.read(obj) for column in kind.columns]


def test_names_scope_and_subresources_are_taken_over() -> None:
    kind = one(
        crd(
            subresources={
                "status": {},
                "scale": {
                    "specReplicasPath": ".spec.size",
                    "statusReplicasPath": ".status.size",
                    "labelSelectorPath": ".status.selector",
                },
            }
        )
    )

    assert (kind.group, kind.version, kind.kind, kind.plural) == ("x.io", "v1", "Tide", "tides")
    assert (kind.singular, kind.short_names, kind.categories) == ("tide", ("td",), ("all",))
    assert kind.scope is Scope.NAMESPACED
    assert kind.has_status
    assert not kind.has_strategic_merge
    assert kind.scale is not None
    assert kind.scale.spec_replicas == ("spec", "size")
    assert kind.scale.label_selector == ("status", "selector")
    assert (one(crd()).scale, one(crd()).has_status, one(crd()).columns) == (None, False, ())


def test_only_versions_that_are_served_become_kinds() -> None:
    definition = crd()
    definition["spec"]["versions"] += [
        {"name": "v2", "served": True, "storage": False},
        {"name": "v0", "served": False, "storage": False},
    ]

    assert [kind.api_version for kind in kind_from_crd(definition)] == ["x.io/v1", "x.io/v2"]


def test_columns_read_their_paths_and_leave_what_does_not_fit_empty() -> None:
    kind = one(crd(additionalPrinterColumns=COLUMNS))
    full = {
        "metadata": {"name": "a", "creationTimestamp": "2026-12-01T00:00:00Z"},
        "spec": {"target": 20, "share": 0.5, "on": True},
        "status": {"conditions": [{"type": "Ready", "status": "True"}]},
    }

    assert [column.name for column in kind.columns][:2] == ["Name", "Target(%)"]
    assert cells(kind, full) == ["a", 20, 0.5, True, "True", "2026-12-01T00:00:00Z"]
    wrong = {"metadata": {"name": "a"}, "spec": {"target": "x", "share": True, "on": "yes"}}
    assert cells(kind, wrong) == ["a", None, None, None, None, None]
    assert kind.columns[2].priority == 1


def test_a_column_of_text_prints_other_values_as_json() -> None:
    column = {"name": "Any", "type": "string", "jsonPath": ".spec.any"}
    read = one(crd(additionalPrinterColumns=[column])).columns[1].read

    values = [read({"spec": {"any": value}}) for value in (True, 3, ["a", 1], {"b": None})]
    assert values == ["true", "3", '["a",1]', '{"b":null}']


def test_a_path_that_cannot_be_read_is_refused_with_its_place() -> None:
    bad = {"name": "Any", "type": "string", "jsonPath": ".spec[?(@.a>1)]"}
    with pytest.raises(StatusError, match=r"spec.versions\[0\]: Invalid value: JSONPath") as caught:
        kind_from_crd(crd(additionalPrinterColumns=[bad]))

    assert caught.value.code == 422


def test_the_schema_gets_what_every_object_has() -> None:
    stated = {
        "type": "object",
        "properties": {"metadata": {"properties": {"name": {"maxLength": 5}}}, "spec": {}},
    }
    schema = one(crd(schema={"openAPIV3Schema": stated})).schema

    assert set(schema["properties"]) == {"apiVersion", "kind", "metadata", "spec"}
    assert schema["properties"]["metadata"]["properties"] == {"name": {"maxLength": 5}}
    assert schema["properties"]["metadata"]["x-kubernetes-preserve-unknown-fields"]
    assert "apiVersion" not in stated["properties"]


def test_defaults_keys_and_rules_of_the_schema_count() -> None:
    stated = {
        "properties": {
            "spec": {
                "properties": {
                    "n": {"default": 3},
                    "tags": {"type": "array", "x-kubernetes-list-type": "set"},
                },
                "x-kubernetes-validations": [{"rule": "self.n < 5", "message": "too many"}],
            }
        }
    }
    definition = crd(schema={"openAPIV3Schema": stated})
    (kind,) = kind_from_crd(definition, cel=lambda _rule, this, _old: this["n"] < 5)
    assert kind.default is not None
    assert kind.validate is not None

    assert kind.default({"spec": {}}) == {"spec": {"n": 3}}
    assert kind.merge_keys == {"spec.tags": ""}
    assert [one.message for one in kind.validate({"spec": {"n": 7}}, None)] == [
        'Invalid value: "object": too many'
    ]
    assert not kind.validate({"spec": {"n": 3}}, None)


def test_without_an_evaluator_rules_are_not_evaluated_but_listed() -> None:
    stated = {"x-kubernetes-validations": [{"rule": "self.n < 5"}]}
    definition = crd(schema={"openAPIV3Schema": stated})

    assert one(definition).validate is None
    assert [rule.rule for rule in rules_of(definition)] == ["self.n < 5"]
