from gputide.kubeapi.structural import broken_rules, defaulted, merging, rules

SCHEMA = {
    "properties": {
        "spec": {
            "properties": {
                "min": {"type": "integer", "default": 1},
                "mode": {"type": "string", "nullable": True, "default": "observer"},
                "items": {
                    "type": "array",
                    "x-kubernetes-list-type": "map",
                    "x-kubernetes-list-map-keys": ["port", "protocol"],
                    "items": {
                        "properties": {"port": {}, "protocol": {"default": "TCP"}, "size": {}},
                        "x-kubernetes-validations": [{"rule": "item"}],
                    },
                },
                "tags": {"type": "array", "x-kubernetes-list-type": "set"},
                "selector": {"type": "object", "x-kubernetes-map-type": "atomic"},
                "byName": {
                    "additionalProperties": {
                        "properties": {
                            "n": {"default": 2},
                            "list": {"x-kubernetes-list-type": "set"},
                        }
                    }
                },
            },
            "x-kubernetes-validations": [
                {"rule": "self.min <= self.max", "message": "min above max", "fieldPath": ".min"},
                {"rule": "self.name == oldSelf.name", "reason": "FieldValueForbidden"},
            ],
        }
    }
}


def no(*broken: str):  # noqa: ANN201 an evaluator
    """Say no to those rules, and that the others cannot be evaluated."""
    return lambda rule, _new, _old: False if rule in broken else None


def test_defaults_fill_what_is_absent_within_objects_that_are_there() -> None:
    spec = {"mode": None, "items": [{"port": 1}], "byName": {"x": {}}}

    assert defaulted({"spec": spec}, SCHEMA) == {
        "spec": {
            "min": 1,
            "mode": None,
            "items": [{"port": 1, "protocol": "TCP"}],
            "byName": {"x": {"n": 2}},
        }
    }
    assert defaulted({}, SCHEMA) == {}
    assert defaulted({"spec": {"min": None}}, SCHEMA)["spec"]["min"] == 1


def test_keys_of_lists_and_whole_maps_are_read_from_the_schema() -> None:
    keys, atomic = merging(SCHEMA)

    assert keys == {
        "spec.items": "port,protocol=TCP",
        "spec.tags": "",
        "spec.byName.*.list": "",
    }
    assert atomic == {"spec.selector"}


def test_every_rule_is_listed_with_its_place() -> None:
    assert [(one.path, one.rule) for one in rules(SCHEMA)] == [
        ("spec", "self.min <= self.max"),
        ("spec", "self.name == oldSelf.name"),
        ("spec.items", "item"),
    ]


def test_a_broken_rule_names_field_message_and_reason() -> None:
    obj = {"spec": {"min": 1, "items": [{"port": 1}]}}
    found = list(broken_rules(obj, None, SCHEMA, no("self.min <= self.max", "item")))

    assert [(one.field, one.message) for one in found] == [
        ("spec.min", 'Invalid value: "object": min above max'),
        ("spec.items[0]", 'Invalid value: "object": failed rule: item'),
    ]


def test_a_rule_on_a_change_counts_on_a_change_alone() -> None:
    rule, obj = "self.name == oldSelf.name", {"spec": {"name": "a"}}

    assert list(broken_rules(obj, None, SCHEMA, no(rule))) == []
    assert [one.reason for one in broken_rules(obj, obj, SCHEMA, no(rule))] == [
        "FieldValueForbidden"
    ]


def test_an_item_is_compared_with_the_one_of_the_same_key() -> None:
    seen = []

    def cel(rule: str, new: object, old: object) -> bool:
        seen.append((rule, new, old))
        return True

    old = {"spec": {"items": [{"port": 1, "size": 1}, {"port": 2, "size": 2}]}}
    new = {"spec": {"items": [{"port": 2, "size": 9}, {"port": 3}]}}
    assert list(broken_rules(new, old, SCHEMA, cel)) == []

    assert [one[1:] for one in seen if one[0] == "item"] == [
        ({"port": 2, "size": 9}, {"port": 2, "size": 2}),
        ({"port": 3}, None),
    ]
