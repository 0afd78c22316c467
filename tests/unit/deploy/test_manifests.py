"""What deploy/manifests says, against the commands and against what Kubernetes advises."""

import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from gputide import __version__
from gputide.cli.app import new_app
from gputide.metricsapi.rules.wire import parse_rules

FOLDER = Path(__file__).parents[3] / "deploy/manifests"
CLUSTER_WIDE = {"Namespace", "CustomResourceDefinition", "ClusterRole", "ClusterRoleBinding"}


def objects(name: str) -> list[dict[str, Any]]:
    return [one for one in yaml.safe_load_all((FOLDER / name).read_text()) if one]


NAMES = sorted(path.name for path in FOLDER.glob("*.yaml"))
ALL = [one for name in NAMES if name != "kustomization.yaml" for one in objects(name)]
DEPLOYMENTS = [one for one in ALL if one["kind"] == "Deployment"]
PODS = [one["spec"]["template"] for one in DEPLOYMENTS]
CONTAINERS = [container for pod in PODS for container in pod["spec"]["containers"]]


def named(kind: str) -> list[dict[str, Any]]:
    return [one for one in ALL if one["kind"] == kind]


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda one: one["name"])
def test_the_flags_are_those_of_the_command(container: dict[str, Any]) -> None:
    command, bound, _ = new_app().parse_args(
        container["args"], print_error=False, exit_on_error=False
    )

    assert callable(command)
    settings = [one for one in bound.arguments.values() if hasattr(one, "log_format")]
    assert settings[0].log_format == "json"


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda one: one["name"])
def test_probes_and_ports_are_where_the_flags_put_them(container: dict[str, Any]) -> None:
    ports = {one["name"]: str(one["containerPort"]) for one in container["ports"]}
    flags = " ".join(container["args"])

    assert all(re.search(rf"[:=]{port}\b", flags) for port in ports.values())
    for probe in ("readinessProbe", "livenessProbe"):
        assert container[probe]["httpGet"]["port"] in ports


@pytest.mark.parametrize("container", CONTAINERS, ids=lambda one: one["name"])
def test_every_file_of_the_flags_lies_in_a_volume(container: dict[str, Any]) -> None:
    paths = [arg.partition("=")[2] for arg in container["args"] if "=/" in arg]
    mounts = [one["mountPath"] for one in container["volumeMounts"]]

    assert paths
    assert all(any(path.startswith(mount) for mount in mounts) for path in paths)


@pytest.mark.parametrize("pod", PODS, ids=lambda one: one["spec"]["serviceAccountName"])
def test_pods_keep_to_the_restricted_standard(pod: dict[str, Any]) -> None:
    spec = pod["spec"]
    (container,) = spec["containers"]

    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(container["resources"]["requests"]) == {"cpu", "memory"}
    secrets = [one["secret"] for one in spec["volumes"] if "secret" in one]
    assert all(one["defaultMode"] == 0o440 for one in secrets)


@pytest.mark.parametrize("deployment", DEPLOYMENTS, ids=lambda one: one["metadata"]["name"])
def test_one_of_two_replicas_is_always_there(deployment: dict[str, Any]) -> None:
    labels = deployment["spec"]["template"]["metadata"]["labels"]
    budgets = [one["spec"] for one in named("PodDisruptionBudget")]
    services = [one["spec"]["selector"] for one in named("Service")]

    assert deployment["spec"]["replicas"] == 2
    assert {"minAvailable": 1, "selector": {"matchLabels": labels}} in budgets
    assert labels in services
    assert deployment["spec"]["template"]["spec"]["affinity"]["podAntiAffinity"]


def test_roles_name_no_wildcards_but_scales_and_metrics() -> None:
    rules = [
        rule for kind in ("ClusterRole", "Role") for one in named(kind) for rule in one["rules"]
    ]
    wide = [rule for rule in rules if "*" in str(rule)]

    assert sorted(str(rule["resources"]) for rule in wide) == ["['*']", "['*/scale']"]
    assert not [rule for rule in rules if "*" in rule["verbs"]]
    assert not [rule for rule in rules if "secrets" in rule["resources"]]


def test_accounts_that_are_bound_exist_or_are_kubernetes_own() -> None:
    accounts = {
        (one["metadata"]["namespace"], one["metadata"]["name"]) for one in named("ServiceAccount")
    }
    bound = {
        (subject["namespace"], subject["name"])
        for kind in ("ClusterRoleBinding", "RoleBinding")
        for one in named(kind)
        for subject in one["subjects"]
    }

    assert bound == accounts | {("kube-system", "horizontal-pod-autoscaler")}


def test_the_api_is_trusted_by_its_certificate_alone() -> None:
    services = [one["spec"] for one in named("APIService")]

    assert len(services) == 4
    assert all("insecureSkipTLSVerify" not in one for one in services)
    assert all(one["caBundle"] == "" for one in services)  # of each cluster its own
    assert all(one["service"]["name"] == "gputide-metricsapi" for one in services)


def test_the_rules_can_be_read() -> None:
    (found,) = (one for one in named("ConfigMap") if "rules.yaml" in one["data"])

    assert parse_rules(found["data"]["rules.yaml"], "rules.yaml").custom


def test_everything_but_the_api_services_is_in_the_kustomization() -> None:
    (kustomization,) = objects("kustomization.yaml")

    assert set(kustomization["resources"]) == {*NAMES} - {"kustomization.yaml", "apiservices.yaml"}
    assert kustomization["images"] == [{"name": "gputide", "newTag": __version__}]
    assert all(
        one["metadata"].get("namespace")
        for one in ALL
        if one["kind"] not in CLUSTER_WIDE and one["kind"] not in ("APIService", "Kustomization")
    )
