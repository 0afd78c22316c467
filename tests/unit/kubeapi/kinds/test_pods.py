import pytest

from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds.pods import POD


def pod(**status: object) -> dict:
    return {
        "metadata": {"name": "p"},
        "spec": {"containers": [{"name": "a", "image": "x"}], "nodeName": "node-1"},
        "status": {"phase": "Running", **status},
    }


def container(*, is_ready: bool = True, **state: object) -> dict:
    return {"ready": is_ready, "restartCount": 2, "state": state}


def test_a_running_pod_prints_as_kubectl_prints_it() -> None:
    running = pod(containerStatuses=[container(running={"startedAt": "t"})], podIP="10.0.0.9")

    assert row(POD, running, is_wide=True) == {
        "Name": "p",
        "Ready": "1/1",
        "Status": "Running",
        "Restarts": "2",
        "Age": None,
        "IP": "10.0.0.9",
        "Node": "node-1",
        "Nominated Node": "<none>",
        "Readiness Gates": "<none>",
    }


@pytest.mark.parametrize(
    ("status", "word"),
    [
        ({"phase": "Pending"}, "Pending"),
        (
            {"containerStatuses": [container(waiting={"reason": "CrashLoopBackOff"})]},
            "CrashLoopBackOff",
        ),
        ({"containerStatuses": [container(terminated={"reason": "Completed"})]}, "Completed"),
        ({"containerStatuses": [container(terminated={"exitCode": 3})]}, "ExitCode:3"),
        ({"containerStatuses": [container(terminated={"signal": 9})]}, "Signal:9"),
        ({"phase": "Failed", "reason": "Evicted"}, "Evicted"),
    ],
)
def test_the_status_is_the_worst_that_is_known(status: dict, word: str) -> None:
    assert row(POD, pod(**status))["Status"] == word


def test_a_pod_that_is_leaving_says_so() -> None:
    leaving = pod()
    leaving["metadata"]["deletionTimestamp"] = "t"

    assert row(POD, leaving)["Status"] == "Terminating"
    assert row(POD, {"metadata": {"name": "p"}})["Ready"] == "0/0"


def test_readiness_gates_are_counted() -> None:
    gated = pod(conditions=[{"type": "a", "status": "True"}])
    gated["spec"]["readinessGates"] = [{"conditionType": "a"}, {"conditionType": "b"}]

    assert row(POD, gated, is_wide=True)["Readiness Gates"] == "1/2"


def test_a_new_pod_is_pending_and_its_spec_stays() -> None:
    assert POD.default is not None
    new = POD.default({"metadata": {"name": "p"}, "spec": {"containers": []}})
    assert new["status"]["phase"] == "Pending"
    assert messages(POD, new) == [("spec.containers", "Required value")]

    old = POD.default(pod())
    image = old | {
        "spec": old["spec"] | {"containers": [old["spec"]["containers"][0] | {"image": "y"}]}
    }
    other = old | {"spec": old["spec"] | {"hostNetwork": True}}
    assert messages(POD, image, old) == []
    assert messages(POD, other, old)[0][0] == "spec"
