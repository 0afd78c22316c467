"""kubectl on objects: what a person does daily, alike on our API server and on Kubernetes."""

from pathlib import Path

import pytest

from fakes.kubectl import Kubectl
from fakes.kubelet import Kubelet
from fakes.programs import wait_until
from fakes.shared import TUTORIALS

WEB = """\
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, labels: {app: web}}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec:
      containers:
        - {name: main, image: "web:1", resources: {limits: {nvidia.com/gpu: "1"}}}
"""
SETTINGS = """\
apiVersion: v1
kind: ConfigMap
metadata: {name: settings}
data: {colour: blue, size: small}
"""


def test_a_deployment_becomes_ready_pods_and_scales_both_ways(
    kubectl: Kubectl, nodes: Kubelet
) -> None:
    kubectl("apply", "-f", "-", stdin=WEB)
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    kubectl("scale", "deployment/web", "--replicas=3")
    wait_until("three are ready", lambda: len(nodes.ready_pods(app="web")) == 3)
    kubectl("scale", "deployment/web", "--replicas=1")
    wait_until("one is left", lambda: _count(kubectl, "pods", "-l", "app=web") == 1)

    kubectl("wait", "--for=condition=Available", "deployment/web", "--timeout=60s")
    assert kubectl("get", "deployment", "web").splitlines()[0].split() == [
        *("NAME", "READY", "UP-TO-DATE", "AVAILABLE", "AGE")
    ]


def test_what_is_applied_twice_is_left_alone_the_second_time(kubectl: Kubectl) -> None:
    first = kubectl("apply", "-f", "-", stdin=SETTINGS)
    version = _version(kubectl)
    second = kubectl("apply", "-f", "-", stdin=SETTINGS)

    assert (first.strip(), second.strip()) == (
        "configmap/settings created",
        "configmap/settings unchanged",
    )
    assert _version(kubectl) == version


def test_an_apply_takes_away_what_its_author_dropped(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    kubectl("apply", "-f", "-", stdin=SETTINGS.replace(", size: small", ""))

    assert kubectl.json("get", "configmap", "settings")["data"] == {"colour": "blue"}


def test_server_side_apply_names_whose_field_it_is(kubectl: Kubectl) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    kubectl(*apply, "--field-manager=first", stdin=SETTINGS)
    red = SETTINGS.replace("blue", "red")
    said = kubectl.fails(*apply, "--field-manager=second", stdin=red)

    assert 'conflict with "first": .data.colour' in said
    kubectl(*apply, "--field-manager=second", "--force-conflicts", stdin=red)
    assert kubectl.json("get", "configmap", "settings")["data"]["colour"] == "red"


@pytest.mark.parametrize("kind", ["merge", "json", "strategic"])
def test_every_kind_of_patch_changes_what_it_names(kubectl: Kubectl, kind: str) -> None:
    patches = {
        "merge": '{"data": {"colour": "red", "size": null}}',
        "json": '[{"op": "replace", "path": "/data/colour", "value": "red"},'
        ' {"op": "remove", "path": "/data/size"}]',
        "strategic": '{"data": {"colour": "red", "size": null}}',
    }
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    kubectl("patch", "configmap", "settings", f"--type={kind}", "-p", patches[kind])

    assert kubectl.json("get", "configmap", "settings")["data"] == {"colour": "red"}


def test_a_dry_run_stores_nothing(kubectl: Kubectl) -> None:
    said = kubectl("apply", "--dry-run=server", "-f", "-", stdin=SETTINGS)

    assert "created (server dry run)" in said
    assert "not found" in kubectl.fails("get", "configmap", "settings")


def test_an_unknown_field_is_refused_by_name(kubectl: Kubectl) -> None:
    said = kubectl.fails("apply", "-f", "-", stdin=WEB.replace("replicas:", "replica:"))

    assert 'unknown field "spec.replica"' in said
    assert "not found" in kubectl.fails("get", "deployment", "web")


def test_a_selector_that_misses_its_own_pods_is_refused(kubectl: Kubectl) -> None:
    wrong = WEB.replace("matchLabels: {app: web}", "matchLabels: {app: other}")
    said = kubectl.fails("apply", "-f", "-", stdin=wrong)

    assert "spec.template.metadata.labels" in said
    assert "`selector` does not match template `labels`" in said


def test_a_watch_tells_each_change_as_it_comes(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    output = "jsonpath={.data}{'\\n'}"
    with kubectl.running("get", "configmap", "settings", "-w", "-o", output) as lines:
        wait_until("it is listed", lambda: len(lines) == 1)
        kubectl("patch", "configmap", "settings", "-p", '{"data": {"colour": "red"}}')
        wait_until("the change is told", lambda: len(lines) == 2)

    assert [("blue" in one, "red" in one) for one in lines] == [(True, False), (False, True)]


def test_the_pods_of_a_deleted_deployment_go_with_it(kubectl: Kubectl) -> None:
    kubectl("apply", "-f", "-", stdin=WEB)
    kubectl("rollout", "status", "deployment/web", "--timeout=60s")
    kubectl("delete", "deployment", "web", "--timeout=60s")

    wait_until("no pod is left", lambda: _count(kubectl, "pods", "-l", "app=web") == 0)


def test_a_namespace_takes_its_objects_along(kubectl: Kubectl) -> None:
    kubectl("create", "namespace", "shop")
    kubectl("apply", "-n", "shop", "-f", "-", stdin=WEB + "---\n" + SETTINGS)
    kubectl("delete", "namespace", "shop", "--timeout=60s")

    assert "not found" in kubectl.fails("get", "namespace", "shop")
    assert _count(kubectl, "configmaps", "-n", "shop") == 0


@pytest.mark.parametrize(
    ("name", "short"),
    [("deployments", "deploy"), ("services", "svc"), ("pods", "po"), ("configmaps", "cm")],
)
def test_short_names_find_the_same_kind(kubectl: Kubectl, name: str, short: str) -> None:
    kubectl("apply", "-f", "-", stdin=WEB + "---\n" + SETTINGS)

    assert kubectl("get", short, "-n", "default", "-o", "name") == kubectl(
        "get", name, "-n", "default", "-o", "name"
    )


def test_explain_tells_what_a_field_means(kubectl: Kubectl) -> None:
    said = kubectl("explain", "deployment.spec.replicas")

    assert "FIELD: replicas <integer>" in said


def test_an_absent_object_is_not_found_in_kubernetes_words(kubectl: Kubectl) -> None:
    said = kubectl.fails("get", "deployment", "nobody")

    assert said.strip() == 'Error from server (NotFound): deployments.apps "nobody" not found'


@pytest.mark.shared
@pytest.mark.skipif(not TUTORIALS.exists(), reason=f"no manifests at {TUTORIALS}")
@pytest.mark.parametrize(
    "name",
    [
        "application-intelligence",
        "bert-intent-detection",
        "fib-loader",
        "tensorflow-benchmark-exclusive",
    ],
)
def test_the_tutorials_manifests_are_taken_byte_for_byte(kubectl: Kubectl, name: str) -> None:
    path = str(TUTORIALS / f"{name}.yaml")
    generations = ("get", "-f", path, "-o", "jsonpath={..metadata.generation}")
    said = kubectl("apply", "-f", path)
    before = kubectl(*generations)
    kubectl("apply", "-f", path)

    assert all(line.endswith(" created") for line in said.splitlines())
    assert kubectl(*generations) == before


def test_a_stale_write_is_a_conflict(kubectl: Kubectl, tmp_path: Path) -> None:
    kubectl("apply", "-f", "-", stdin=SETTINGS)
    path = tmp_path / "old.yaml"
    path.write_text(kubectl("get", "configmap", "settings", "-o", "yaml"))
    kubectl("patch", "configmap", "settings", "-p", '{"data": {"colour": "red"}}')
    said = kubectl.fails("replace", "-f", str(path))

    assert "the object has been modified" in said


def _count(kubectl: Kubectl, *what: str) -> int:
    return len(kubectl.json("get", *what)["items"])


def _version(kubectl: Kubectl) -> str:
    version: str = kubectl.json("get", "configmap", "settings")["metadata"]["resourceVersion"]
    return version
