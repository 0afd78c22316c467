"""What a rule says of names and labels."""

import re

import pytest

from gputide.metricsapi.ports import Resource
from gputide.metricsapi.rules.model import Rule
from gputide.metricsapi.rules.template import parse_template

QUERY = parse_template("<<.Series>>", known=["Series"], place="x")


def rule(**changes: object) -> Rule:
    given: dict[str, object] = {"place": "rules[0]", "series_query": "x", "metrics_query": QUERY}
    return Rule(**given | changes)  # type: ignore[arg-type] # of a test's making


@pytest.mark.parametrize(
    ("matches", "as_", "series", "name"),
    [
        (".*", "$0", "http_total", "http_total"),
        ("^(.*)_total$", "$1", "http_total", "http"),
        ("^(.*)_total$", "${1}_per_second", "http_total", "http_per_second"),
        ("^(?P<what>.*)_total$", "${what}", "http_total", "http"),
        ("http_(.*)", "$1", "nginx_http_requests", "requests"),
        ("a", "$$x", "a", "$x"),
        ("a", "${7}x", "a", "x"),
    ],
)
def test_names_are_made_as_go_makes_them(matches: str, as_: str, series: str, name: str) -> None:
    made = rule(name_matches=re.compile(matches), name_as=as_)

    assert (made.takes(series), made.api_name(series)) == (True, name)


def test_all_filters_have_to_pass_and_the_name_is_one_too() -> None:
    filters = ((re.compile("^gpu_"), True), (re.compile("_debug$"), False))
    made = rule(filters=filters, name_matches=re.compile("util"))

    assert made.refusal("x") == "seriesFilters[0] (is)"
    assert made.refusal("gpu_util_debug") == "seriesFilters[1] (isNot)"
    assert made.refusal("gpu_power") == "name.matches"
    assert made.refusal("gpu_util" * 26) == "a name of more than 128 characters"
    taken = [name for name in ("gpu_util", "gpu_util_debug", "gpu_power", "x") if made.takes(name)]
    assert taken == ["gpu_util"]


def test_labels_are_found_by_override_first_and_template_after() -> None:
    template = parse_template(
        "kube_<<.Group>>_<<.Resource>>", known=["Group", "Resource"], place="x"
    )
    pods, web = Resource(plural="pods"), Resource(plural="deployments", group="apps")
    made = rule(overrides={"pod": pods}, label_template=template)

    assert made.label_of(pods, "pod") == "pod"
    assert made.label_of(web, "deployment") == "kube_apps_deployment"
    assert made.resource_of("pod") == pods
    assert made.resource_of("kube_apps_deployment") == web
    assert made.resource_of("kube__node") == Resource(plural="nodes")
    assert made.resource_of("instance") is None
    assert rule().label_of(pods, "pod") is None
    assert rule().resource_of("pod") is None


def test_of_all_the_labels_of_a_series_only_kubernetes_kinds_are_resources() -> None:
    template = parse_template("<<.Resource>>", known=["Group", "Resource"], place="x")
    made = rule(label_template=template)
    labels = ("UUID", "gpu", "instance", "endpoint", "job", "namespace", "pod", "deployment")

    found = [made.resource_of(label) for label in labels]
    assert [one.qualified for one in found if one] == [
        "jobs.batch",
        "namespaces",
        "pods",
        "deployments.apps",
    ]


def test_somebodys_own_kind_is_found_by_its_group_or_by_an_override_without_one() -> None:
    template = parse_template(
        "kube_<<.Group>>_<<.Resource>>", known=["Group", "Resource"], place="x"
    )
    rollouts = Resource(plural="rollouts", group="argoproj.io")

    assert rule(label_template=template).resource_of("kube_argoproj_io_rollout") == rollouts
    assert rule(overrides={"ro": Resource(plural="rollouts")}).label_of(rollouts, "x") == "ro"
    apps = Resource(plural="pods", group="apps")
    assert rule(overrides={"pod": Resource(plural="pods")}).label_of(apps, "pod") is None
