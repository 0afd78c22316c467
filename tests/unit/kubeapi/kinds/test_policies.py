import pytest

from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds.policies import AUTOSCALER, DISRUPTION_BUDGET, KINDS

BINDING = next(kind for kind in KINDS if kind.kind == "RoleBinding")


def autoscaler(metrics: list, current: list, **spec: object) -> dict:
    target = {"kind": "Deployment", "name": "web"}
    return {
        "metadata": {"name": "h"},
        "spec": {"scaleTargetRef": target, "maxReplicas": 5, "metrics": metrics, **spec},
        "status": {"currentMetrics": current, "currentReplicas": 2},
    }


EXTERNAL = {"type": "External", "external": {"target": {"averageValue": "20"}}}
CPU = {
    "type": "Resource",
    "resource": {"name": "cpu", "target": {"type": "Utilization", "averageUtilization": 80}},
}


@pytest.mark.parametrize(
    ("metrics", "current", "cell"),
    [
        (
            [EXTERNAL],
            [{"type": "External", "external": {"current": {"averageValue": "189"}}}],
            "189/20 (avg)",
        ),
        ([EXTERNAL], [], "<unknown>/20 (avg)"),
        ([CPU], [{"resource": {"current": {"averageUtilization": 0}}}], "cpu: 0%/80%"),
        ([CPU, EXTERNAL, CPU], [], "cpu: <unknown>/80%, <unknown>/20 (avg) + 1 more..."),
        ([{"type": "Object", "object": {"target": {"value": "3"}}}], [], "<unknown>/3"),
        ([{"type": "Pods", "pods": {"target": {"averageValue": "3"}}}], [], "<unknown>/3"),
        ([], [], "<none>"),
    ],
)
def test_targets_are_printed_as_kubernetes_prints_them(
    metrics: list, current: list, cell: str
) -> None:
    cells = row(AUTOSCALER, autoscaler(metrics, current))

    assert cells["Targets"] == cell
    assert (cells["Reference"], cells["MinPods"], cells["MaxPods"]) == (
        "Deployment/web",
        "<unset>",
        5,
    )


def test_an_autoscaler_has_a_metric_and_sane_bounds() -> None:
    assert AUTOSCALER.default is not None
    spec = AUTOSCALER.default(autoscaler([], []))["spec"]

    assert (spec["minReplicas"], spec["metrics"][0]["resource"]["name"]) == (1, "cpu")
    assert messages(AUTOSCALER, autoscaler([], [], minReplicas=9))[0][0] == "spec.maxReplicas"
    assert messages(AUTOSCALER, autoscaler([], [])) == []


def test_a_binding_names_role_and_subjects_and_keeps_its_role() -> None:
    binding = {
        "metadata": {"name": "b"},
        "roleRef": {"kind": "Role", "name": "r"},
        "subjects": [
            {"kind": "ServiceAccount", "name": "s", "namespace": "n"},
            {"kind": "User", "name": "u"},
        ],
    }
    assert BINDING.default is not None
    full = BINDING.default(binding)
    cells = row(BINDING, full, is_wide=True)

    assert full["subjects"][1]["apiGroup"] == full["roleRef"]["apiGroup"]
    assert (cells["Role"], cells["Users"], cells["ServiceAccounts"]) == ("Role/r", "u", "n/s")
    assert cells["Groups"] == ""
    assert messages(BINDING, binding | {"roleRef": {"kind": "Role", "name": "q"}}, full) == [
        ("roleRef", "Invalid value: cannot change roleRef")
    ]
    assert messages(BINDING, {"roleRef": {}})[0] == ("roleRef.kind", "Required value")


def test_a_disruption_budget_shows_what_it_allows() -> None:
    budget = {"metadata": {"name": "p"}, "spec": {"minAvailable": "50%"}}

    assert row(DISRUPTION_BUDGET, budget) == {
        "Name": "p",
        "Min Available": "50%",
        "Max Unavailable": "N/A",
        "Allowed Disruptions": 0,
        "Age": None,
    }
