"""`gputide get` and `gputide apply` beside the real kubectl, on both servers."""

import re
import subprocess
import sys
from pathlib import Path

from fakes.ahpa_yaml import ahpa_yaml
from fakes.kubectl import Kubectl

DEFINITION = Path(__file__).parents[3] / "deploy/manifests/crd-ahpa.yaml"
GROUP = "advancedhorizontalpodautoscaler.autoscaling.alibabacloud.com"


def gputide(kubectl: Kubectl, *arguments: str, stdin: str = "", code: int = 0) -> str:
    """Return what the command prints, or complains of, for the same kubeconfig."""
    done = subprocess.run(
        [sys.executable, "-m", "gputide", *arguments],
        input=stdin,
        env=kubectl.environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stderr if code else done.stdout


def without_age(text: str) -> str:
    return re.sub(r" \d+s\b", " AGE", text)


def test_the_tables_are_those_of_kubectl(ahpa: Kubectl) -> None:
    ahpa("apply", "-f", "-", stdin=ahpa_yaml())
    status = '{"status": {"desiredReplicas": 10, "currentReplicas": 4}}'
    ahpa("patch", "ahpa", "fib-gpu", "--subresource=status", "--type=merge", "-p", status)
    for arguments in (["get", "ahpa"], ["get", "ahpa", "-A"], ["get", "ahpa", "-o", "wide"]):
        expected = ahpa(*arguments)
        assert without_age(gputide(ahpa, *arguments)) == without_age(expected)


def test_what_is_applied_is_told_and_belongs_to_gputide(ahpa: Kubectl) -> None:
    said = [
        gputide(ahpa, "apply", "-f", "-", "--dry-run", stdin=ahpa_yaml()),
        gputide(ahpa, "apply", "-f", "-", stdin=ahpa_yaml()),
        gputide(ahpa, "apply", "-f", "-", stdin=ahpa_yaml()),
        gputide(ahpa, "apply", "-f", "-", stdin=ahpa_yaml().replace("observer", "auto")),
    ]

    outcomes = ("created (server dry run)", "created", "unchanged", "configured")
    assert said == [f"{GROUP}/fib-gpu {outcome}\n" for outcome in outcomes]
    found = ahpa.json("get", "ahpa", "fib-gpu", "--show-managed-fields")
    assert found["spec"]["scaleStrategy"] == "auto"
    assert [one["manager"] for one in found["metadata"]["managedFields"]] == ["gputide"]


def test_fields_of_kubectl_are_not_taken_over_unasked(ahpa: Kubectl) -> None:
    ahpa("apply", "-f", "-", stdin=ahpa_yaml())
    other = ahpa_yaml().replace("observer", "auto")

    said = gputide(ahpa, "apply", "-f", "-", stdin=other, code=2)

    assert "scaleStrategy" in said
    assert "--force-conflicts" in said
    assert "configured" in gputide(ahpa, "apply", "-f", "-", "--force-conflicts", stdin=other)


def test_a_field_that_nobody_knows_is_refused(ahpa: Kubectl) -> None:
    wrong = ahpa_yaml().replace("scaleStrategy", "scaleStratgy")

    assert "scaleStratgy" in gputide(ahpa, "apply", "-f", "-", stdin=wrong, code=2)


def test_the_definition_is_unchanged_where_it_is_there(ahpa: Kubectl) -> None:
    command = ["apply", "-f", str(DEFINITION), "--force-conflicts"]
    gputide(ahpa, *command)

    assert gputide(ahpa, *command).endswith(" unchanged\n")
