from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds.workloads import (
    DAEMON_SET,
    DEPLOYMENT,
    JOB,
    KINDS,
    REPLICA_SET,
    STATEFUL_SET,
)


def workload(**spec: object) -> dict:
    template = {
        "metadata": {"labels": {"app": "web"}},
        "spec": {"containers": [{"name": "web", "image": "web:1"}]},
    }
    return {
        "metadata": {"name": "w"},
        "spec": {"selector": {"matchLabels": {"app": "web"}}, "template": template, **spec},
    }


def filled(kind, obj: dict) -> dict:  # noqa: ANN001 a Kind
    return kind.default(obj)


def test_a_deployment_rolls_by_a_quarter_unless_it_says_otherwise() -> None:
    spec = filled(DEPLOYMENT, workload())["spec"]

    assert spec["replicas"] == 1
    assert spec["strategy"] == {
        "type": "RollingUpdate",
        "rollingUpdate": {"maxUnavailable": "25%", "maxSurge": "25%"},
    }
    assert spec["template"]["spec"]["restartPolicy"] == "Always"
    recreate = filled(DEPLOYMENT, workload(strategy={"type": "Recreate"}, replicas=0))["spec"]
    assert (recreate["strategy"], recreate["replicas"]) == ({"type": "Recreate"}, 0)


def test_rows_are_those_of_kubectl() -> None:
    status = {"replicas": 3, "readyReplicas": 2, "updatedReplicas": 3, "availableReplicas": 1}
    obj = workload(replicas=3) | {"status": status}

    assert row(DEPLOYMENT, obj, is_wide=True) == {
        "Name": "w",
        "Ready": "2/3",
        "Up-to-date": 3,
        "Available": 1,
        "Age": None,
        "Containers": "web",
        "Images": "web:1",
        "Selector": "app=web",
    }
    assert row(REPLICA_SET, obj) == {
        "Name": "w",
        "Desired": 3,
        "Current": 3,
        "Ready": 2,
        "Age": None,
    }
    assert row(STATEFUL_SET, obj) == {"Name": "w", "Ready": "2/3", "Age": None}
    assert row(DAEMON_SET, obj)["Node Selector"] == "<none>"


def test_a_job_says_how_it_ended() -> None:
    job = workload(completions=2) | {"status": {"succeeded": 1}}
    assert row(JOB, job)["Status"] == "Running"
    assert row(JOB, job)["Completions"] == "1/2"

    job["status"]["conditions"] = [{"type": "Failed", "status": "True"}]
    assert row(JOB, job)["Status"] == "Failed"


def test_what_is_wrong_is_named() -> None:
    assert messages(DEPLOYMENT, workload()) == []
    assert [one[0] for one in messages(DEPLOYMENT, {"metadata": {}, "spec": {}})] == [
        "spec.selector",
        "spec.template.spec.containers",
    ]
    assert messages(JOB, workload())[0][0] == "spec.template.spec.restartPolicy"
    old = filled(JOB, workload())
    assert (
        messages(JOB, old | {"spec": old["spec"] | {"template": {}}}, old)[-1][0] == "spec.template"
    )


def test_defaults_leave_a_body_that_is_no_object_alone() -> None:
    for kind in KINDS:
        assert filled(kind, {"spec": "text"}) == {"spec": "text"}
        assert filled(kind, {}) == {}
