"""Kinds that users define: schema, rules, defaults, columns, subresources; alike on both."""

from collections.abc import Iterator

import pytest

from fakes.kubectl import Kubectl
from fakes.programs import wait_until

TIDES = """\
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: tides.test.gputide.dev}
spec:
  group: test.gputide.dev
  scope: Namespaced
  names: {kind: Tide, plural: tides, singular: tide, shortNames: [td], categories: [waters]}
  versions:
    - name: v1
      served: true
      storage: true
      subresources:
        status: {}
        scale:
          specReplicasPath: .spec.replicas
          statusReplicasPath: .status.replicas
      additionalPrinterColumns:
        - {name: Height(cm), type: integer, jsonPath: .spec.height}
        - {name: Mode, type: string, jsonPath: .spec.mode}
        - {name: Port, type: string, jsonPath: .spec.port, priority: 1}
        - {name: Age, type: date, jsonPath: .metadata.creationTimestamp}
      schema:
        openAPIV3Schema:
          type: object
          required: [spec]
          properties:
            spec:
              type: object
              required: [height]
              x-kubernetes-validations:
                - {rule: "self.low <= self.height", message: low water lies above high water}
              properties:
                height: {type: integer, minimum: 0, description: High water in centimetres.}
                low: {type: integer, default: 0}
                mode: {type: string, enum: [spring, neap], default: neap}
                port: {type: string}
                replicas: {type: integer, default: 1}
            status:
              type: object
              properties: {replicas: {type: integer}, words: {type: string}}
"""
TIDE = """\
apiVersion: test.gputide.dev/v1
kind: Tide
metadata: {name: north}
spec: {height: 300, port: Husum}
"""


@pytest.fixture
def tides(kubectl: Kubectl) -> Iterator[Kubectl]:
    """kubectl, with the kind defined."""
    kubectl("apply", "-f", "-", stdin=TIDES)
    kubectl("wait", "--for=condition=Established", "crd/tides.test.gputide.dev", "--timeout=60s")
    # discovery and OpenAPI follow a moment later, on Kubernetes too
    wait_until("it is explained", lambda: "High water" in kubectl("explain", "tide.spec.height"))
    yield kubectl
    kubectl("delete", "--ignore-not-found", "crd", "tides.test.gputide.dev", "--timeout=60s")


def test_defaults_are_filled_in_and_columns_are_printed(tides: Kubectl) -> None:
    tides("apply", "-f", "-", stdin=TIDE)

    narrow = [line.split() for line in tides("get", "td").splitlines()]
    wide = [line.split() for line in tides("get", "td", "-o", "wide").splitlines()]
    assert narrow[0] == ["NAME", "HEIGHT(CM)", "MODE", "AGE"]
    assert narrow[1][:3] == ["north", "300", "neap"]
    assert wide[0] == ["NAME", "HEIGHT(CM)", "MODE", "PORT", "AGE"]
    spec = tides.json("get", "tide", "north")["spec"]
    assert (spec["low"], spec["mode"], spec["replicas"]) == (0, "neap", 1)


@pytest.mark.parametrize(
    ("wrong", "complaint"),
    [
        ("height: -1", "spec.height: Invalid value: -1: spec.height in body should be greater"),
        ("height: high", 'spec.height: Invalid value: "string": spec.height in body must be of'),
        ("mode: calm, height: 3", 'spec.mode: Unsupported value: "calm"'),
        ("port: Husum", "spec.height: Required value"),
        ("height: 3, colour: grey", 'unknown field "spec.colour"'),
    ],
)
def test_a_wrong_object_is_refused_naming_the_field(
    tides: Kubectl, wrong: str, complaint: str
) -> None:
    said = tides.fails("apply", "-f", "-", stdin=TIDE.replace("height: 300, port: Husum", wrong))

    assert complaint in said
    assert tides("get", "tides", "-o", "name") == ""


@pytest.mark.usefixtures("rules")
def test_an_object_that_breaks_a_rule_is_refused_in_the_rules_words(tides: Kubectl) -> None:
    wrong = TIDE.replace("height: 300, port: Husum", "low: 4, height: 3")

    assert "low water lies above high water" in tides.fails("apply", "-f", "-", stdin=wrong)


def test_status_and_spec_are_written_apart(tides: Kubectl) -> None:
    tides("apply", "-f", "-", stdin=TIDE)
    status = '{"status": {"replicas": 4, "words": "falling"}, "spec": {"height": 1}}'
    tides("patch", "tide", "north", "--type=merge", "--subresource=status", "-p", status)
    tides("patch", "tide", "north", "--type=merge", "-p", '{"status": {"words": "rising"}}')

    found = tides.json("get", "tide", "north")
    assert found["status"] == {"replicas": 4, "words": "falling"}
    assert found["spec"]["height"] == 300
    assert found["metadata"]["generation"] == 1


def test_scale_works_on_a_kind_of_ones_own(tides: Kubectl) -> None:
    tides("apply", "-f", "-", stdin=TIDE)
    tides("scale", "tide/north", "--replicas=7")

    assert tides.json("get", "tide", "north")["spec"]["replicas"] == 7


def test_server_side_apply_goes_field_by_field(tides: Kubectl) -> None:
    apply = ("apply", "--server-side", "-f", "-")
    tides(*apply, "--field-manager=harbour", stdin=TIDE)
    office = TIDE.replace("port: Husum", "low: 20")
    tides(*apply, "--field-manager=office", stdin=office)

    spec = tides.json("get", "tide", "north")["spec"]
    assert (spec["port"], spec["low"]) == ("Husum", 20)
    other = TIDE.replace("port: Husum", "port: Wyk")
    assert ".spec.port" in tides.fails(*apply, "--field-manager=office", stdin=other)


def test_a_strategic_patch_is_not_for_such_kinds(tides: Kubectl) -> None:
    tides("apply", "-f", "-", stdin=TIDE)
    said = tides.fails("patch", "tide", "north", "--type=strategic", "-p", '{"spec": {"low": 2}}')

    assert "application/strategic-merge-patch+json" in said


def test_a_watch_prints_rows_as_they_change(tides: Kubectl) -> None:
    with tides.running("get", "tides", "-w") as lines:
        tides("apply", "-f", "-", stdin=TIDE)
        tides("patch", "tide", "north", "--type=merge", "-p", '{"spec": {"height": 310}}')
        wait_until("both rows are printed", lambda: len(lines) >= 3)

    assert [line.split()[:2] for line in lines[1:3]] == [["north", "300"], ["north", "310"]]


def test_objects_go_with_their_definition(tides: Kubectl) -> None:
    tides("apply", "-f", "-", stdin=TIDE)
    tides("delete", "crd", "tides.test.gputide.dev", "--timeout=60s")
    wait_until("it is unknown", lambda: "the server" in tides.fails("get", "tides"))

    tides("apply", "-f", "-", stdin=TIDES)
    tides("wait", "--for=condition=Established", "crd/tides.test.gputide.dev", "--timeout=60s")
    wait_until("it is known", lambda: tides("get", "tides", "-o", "name") == "")
