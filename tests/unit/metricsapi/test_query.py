"""Questions as PromQL."""

import pytest

from fakes.adapter_rules import RULES
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.ports import CustomAsk, Resource
from gputide.metricsapi.query import custom_query, external_query
from gputide.metricsapi.rules.wire import parse_rules
from gputide.metricsapi.series import Series

RULE_SET = parse_rules(RULES, "f")
PODS = Resource(plural="pods")


def ask(resource: Resource, *names: str, namespace: str = "n", selector: str = "") -> CustomAsk:
    return CustomAsk(
        resource=resource, namespace=namespace, names=names, metric="m", selector=selector
    )


def test_one_pod_several_pods_and_a_selector() -> None:
    series = Series(RULE_SET.custom[0], "G")

    assert custom_query(series, ask(PODS, "a"), "pod").expression == (
        'avg(G{namespace="n",pod="a"}) by (pod)'
    )
    assert custom_query(series, ask(PODS, "a.1", "b", selector="gpu=0"), "pod").expression == (
        r'avg(G{gpu="0",namespace="n",pod=~"a\\.1|b"}) by (pod)'
    )


def test_a_namespace_is_matched_once_and_a_cluster_scoped_object_by_none() -> None:
    namespaces = Resource(plural="namespaces")
    series = Series(RULE_SET.custom[0], "G")

    assert custom_query(series, ask(namespaces, "n"), "namespace").expression == (
        'avg(G{namespace="n"}) by (namespace)'
    )
    node = custom_query(
        Series(RULE_SET.custom[1], "P"),
        ask(Resource(plural="nodes"), "gpu-1", namespace=""),
        "kube__node",
    )
    assert node.expression == 'sum(P{kube__node="gpu-1"}) by (kube__node)'


def test_external_metrics_stay_within_their_namespace_unless_the_rule_says_otherwise() -> None:
    http, queue = (Series(rule, "s") for rule in RULE_SET.external[:2])

    assert external_query(http, "n", "model=bert").expression == (
        'sum(rate(s{model="bert",namespace="n"}[2m])) by (model)'
    )
    assert external_query(queue, "n", "").expression == "s{}"


def test_a_rule_that_cannot_keep_to_a_namespace_says_what_is_missing() -> None:
    rule = parse_rules("externalRules: [{seriesQuery: x}]", "f").external[0]
    with pytest.raises(StatusError, match="no label for namespaces"):
        external_query(Series(rule, "x"), "n", "")


@pytest.mark.parametrize("more", ["", ", namespaced: false"])
def test_objects_of_one_namespace_are_never_mixed_with_those_of_another(more: str) -> None:
    text = (
        f"rules: [{{seriesQuery: x, resources: {{overrides: {{pod: {{resource: pod}}}}{more}}}}}]"
    )
    rule = parse_rules(text, "f").custom[0]
    with pytest.raises(StatusError, match=r"rules\[0\] says no label for namespaces"):
        custom_query(Series(rule, "x"), ask(PODS, "a"), "pod")

    node = custom_query(Series(rule, "x"), ask(Resource(plural="nodes"), "n", namespace=""), "node")
    assert node.expression == 'sum(x{node="n"}) by (node)'


def test_the_values_of_labels_are_at_hand_by_name() -> None:
    text = """
externalRules:
  - seriesQuery: x
    resources: {overrides: {ns: {resource: namespace}}}
    metricsQuery: '<<.Series>>{<<.LabelMatchers>>} # <<index .LabelValuesByName "ns">>'
"""
    rule = parse_rules(text, "f").external[0]
    assert external_query(Series(rule, "x"), "n", "").expression == 'x{ns="n"} # n'


BY_NAME = """
externalRules:
  - seriesQuery: x
    resources: {overrides: {ns: {resource: namespace}}}
    metricsQuery: 'sum(<<.Series>>{ns="<<.LabelValuesByName.ns>>",m=~"<<.LabelValuesByName.m>>"})'
"""


@pytest.mark.parametrize(
    ("selector", "values"),
    [("m=a", "a"), ("m in (b,a)", "a|b"), ("m!=a", "a"), ("m", ""), ("!m", "")],
)
def test_every_requirement_has_its_values_by_name(selector: str, values: str) -> None:
    series = Series(parse_rules(BY_NAME, "f").external[0], "x")

    assert external_query(series, "n", selector).expression == f'sum(x{{ns="n",m=~"{values}"}})'


@pytest.mark.parametrize(
    ("namespace", "selector"),
    [
        ("n", 'm=a"}or-secret#'),
        ("n", "m=a'"),
        ("n", "m in (a`,b)"),
        ("n", "m=a\\"),
        ('n"} or secret{x="', ""),
    ],
)
def test_nobody_writes_a_query_of_his_own_into_a_rule(namespace: str, selector: str) -> None:
    series = Series(parse_rules(BY_NAME, "f").external[0], "x")
    with pytest.raises(StatusError, match="letters, digits") as caught:
        external_query(series, namespace, selector)

    assert caught.value.code == 400


def test_a_rule_without_values_by_name_takes_any_value_quoted() -> None:
    http = Series(RULE_SET.external[0], "s")

    assert external_query(http, "n", 'm=a"}or-secret#').expression == (
        'sum(rate(s{m="a\\"}or-secret#",namespace="n"}[2m])) by (model)'
    )
