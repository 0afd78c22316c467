"""prometheus-adapter's file, parsed."""

import pytest

from fakes.adapter_rules import RULES
from gputide.errors import InputError
from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.wire import parse_rules

ONE = "{seriesQuery: x, resources: {template: '<<.Resource>>'}"


def test_every_field_of_the_grammar_is_taken() -> None:
    rules = parse_rules(RULES, "rules.yaml")
    gpu, power = rules.custom
    http = rules.external[0]

    assert gpu.overrides["pod"] == Resource(plural="pods")
    assert gpu.api_name("DCGM_FI_DEV_GPU_UTIL") == "gpu_util"
    assert power.label_template is not None
    assert http.api_name("http_requests_total") == "http_requests_per_second"
    assert not http.takes("http_requests_total_debug")
    assert [one.is_namespaced for one in rules.external] == [True, False, False, False]
    assert rules.external[1].place == "externalRules[1]"


def test_fields_that_a_template_engine_leaves_null_are_not_given() -> None:
    rules = parse_rules(
        "externalRules: [{seriesQuery: x, seriesFilters: null, name: null, resources: null}]", "f"
    )

    assert rules.external[0].api_name("x") == "x"


def test_an_empty_file_has_no_rules_and_resource_rules_are_said_to_have_no_effect() -> None:
    assert parse_rules("", "f").custom == ()
    assert parse_rules("rules:\n", "f").external == ()
    warned = parse_rules("resourceRules: {cpu: {containerQuery: x}}", "f").warnings
    assert "metrics-server" in warned[0]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("rules: [", "f: is no YAML at line 1, column 9: expected the node content"),
        ("rule: []", "unknown field `rule`"),
        ("rules: [{}]", "missing required field `seriesQuery`"),
        ("rules: [{seriesQuery: x}]", r"f: rules\[0\].resources: needs a template or overrides"),
        (
            f"rules: [{ONE}, name: {{matches: '('}}}}]",
            r"f: rules\[0\].name.matches: '\(' is no regular expression",
        ),
        (f"rules: [{ONE}, name: {{matches: '(a)(b)'}}}}]", r"rules\[0\].name.as: missing"),
        (f"rules: [{ONE}, seriesFilters: [{{}}]}}]", r"seriesFilters\[0\]: .*exactly one of is"),
        (f"rules: [{ONE}, metricsQuery: ''}}]", "metricsQuery: is empty"),
        (f"rules: [{ONE}, metricsQuery: '<<.Serie>>'}}]", "metricsQuery: .Serie is no field"),
        (
            "rules: [{seriesQuery: x, resources: {template: 'a'}}]",
            "resources.template: needs <<.Resource>>",
        ),
        ("externalRules: [{seriesQuery: ' '}]", r"externalRules\[0\].seriesQuery: is empty"),
        (
            f"rules: [{ONE}, seriesFilters: [{{is: a}}, {{isNot: '(?=b)'}}]}}]",
            r"rules\[0\].seriesFilters\[1\]: .* nothing that Go knows",
        ),
        (f"rules: [{ONE}, name: {{matches: '(a+)+', as: x}}}}]", "tried without end"),
        ("rules: {customs: []}", "rules.customs: is no field of the chart's rules"),
        ("- 1", "Expected `object`"),
    ],
)
def test_a_mistake_is_one_line_that_names_its_place(text: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as caught:
        parse_rules(text, "f")
    assert "\n" not in str(caught.value)


def test_a_charts_values_and_a_config_map_are_taken_as_well() -> None:
    chart = parse_rules(f"rules: {{custom: [{ONE}}}], default: true}}", "f")
    config_map = parse_rules(f'{{kind: ConfigMap, data: {{a: "rules: [{ONE}}}]"}}}}', "f")

    assert [one.series_query for one in (*chart.custom, *config_map.custom)] == ["x", "x"]
    assert "rules.default" in chart.warnings[0]


def test_an_override_means_kubernetes_own_kind_where_its_group_is_left_out() -> None:
    text = "rules: [{seriesQuery: x, resources: {overrides: {d: {resource: deployment}}}}]"

    assert parse_rules(text, "f").custom[0].overrides == {
        "d": Resource(plural="deployments", group="apps")
    }
