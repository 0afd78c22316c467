"""Rules out of ConfigMaps and charts' values."""

import pytest
import yaml

from gputide.errors import InputError
from gputide.metricsapi.rules.chart import unwrapped, yaml_problem

RULE = {"seriesQuery": "x", "resources": {"template": "<<.Resource>>"}}


def test_a_file_of_rules_stays_as_it_is() -> None:
    for found in ({"rules": [RULE]}, {"externalRules": []}, {}, None, [1], {"rule": 1}):
        assert unwrapped(found, "f") == (found, ())


def test_the_communitys_chart_says_custom_external_and_resource() -> None:
    values = {"rules": {"default": False, "custom": [RULE], "external": [], "resource": {"cpu": 1}}}

    assert unwrapped(values, "f") == (
        {"rules": [RULE], "externalRules": [], "resourceRules": {"cpu": 1}},
        (),
    )


def test_the_vendors_adapter_serves_its_rules_as_custom_and_as_external_metrics() -> None:
    rules = {"custom": [RULE], "default": True}
    values = {"AlibabaCloudMetricsAdapter": {"prometheus": {"adapter": {"rules": rules}}}}
    made, warnings = unwrapped(values, "f")

    assert made == {"rules": [RULE], "externalRules": [RULE], "resourceRules": None}
    assert "rules.default" in warnings[0]


def test_a_config_map_is_opened_whatever_its_key_is_called() -> None:
    text = yaml.safe_dump({"rules": [RULE]})
    found = {"apiVersion": "v1", "kind": "ConfigMap", "data": {"config.yaml": text}}

    assert unwrapped(found, "f") == ({"rules": [RULE]}, ())


def test_the_values_of_a_chart_around_the_chart_are_opened_too() -> None:
    values = {"other": 1, "prometheus-adapter": {"rules": {"custom": [RULE]}}}

    made, _ = unwrapped(values, "f")
    assert made == {"rules": [RULE], "externalRules": [], "resourceRules": None}


@pytest.mark.parametrize("text", ["a: [", "a: \x00", "\t- x", "a: b: c", "&a *b"])
def test_what_is_no_yaml_is_told_in_one_line(text: str) -> None:
    with pytest.raises(yaml.YAMLError) as caught:
        yaml.safe_load(text)

    assert yaml_problem(caught.value).startswith("is no YAML")
    assert "\n" not in yaml_problem(caught.value)


def test_a_config_map_within_a_config_map_is_refused() -> None:
    inner = yaml.safe_dump({"kind": "ConfigMap", "data": {"a": "rules: []"}})
    with pytest.raises(InputError, match=r"f: data\.config: holds another ConfigMap"):
        unwrapped({"kind": "ConfigMap", "data": {"config": inner}}, "f")


@pytest.mark.parametrize(
    ("found", "words"),
    [
        ({"kind": "ConfigMap"}, r"f: data: a ConfigMap of rules has one key"),
        ({"kind": "ConfigMap", "data": {"a": "", "b": ""}}, "has one key"),
        ({"kind": "ConfigMap", "data": {"a": {"rules": []}}}, r"f: data\.a: must be text"),
        (
            {"kind": "ConfigMap", "data": {"a": "rules: ["}},
            r"f: data\.a: is no YAML at line 1, column 9: expected",
        ),
        ({"rules": {"customs": []}}, r"f: rules\.customs: is no field"),
        ({"rules": {"existing": "mine"}}, r"rules\.existing: names the ConfigMap 'mine'"),
        ({"AlibabaCloudMetricsAdapter": {}}, "has no AlibabaCloudMetricsAdapter.prometheus"),
    ],
)
def test_what_cannot_be_opened_is_named(found: object, words: str) -> None:
    with pytest.raises(InputError, match=words):
        unwrapped(found, "f")
