from fakes.kind_rows import messages, row
from gputide.kubeapi.kinds.core import (
    CONFIG_MAP,
    EVENT,
    LEASE,
    NAMESPACE,
    NODE,
    SECRET,
    SERVICE_ACCOUNT,
)

META = {"name": "x", "creationTimestamp": "2026-12-01T00:00:00Z"}


def test_a_namespace_is_active_named_by_a_label_and_held_by_its_contents() -> None:
    assert NAMESPACE.default is not None
    namespace = NAMESPACE.default({"metadata": {"name": "x", "labels": {"a": "b"}}})

    assert namespace["metadata"]["labels"] == {"kubernetes.io/metadata.name": "x", "a": "b"}
    assert namespace["spec"]["finalizers"] == ["kubernetes"]
    assert row(NAMESPACE, namespace)["Status"] == "Active"


def test_data_is_counted_and_texts_of_a_secret_are_coded() -> None:
    assert SECRET.default is not None
    secret = SECRET.default({"metadata": META, "stringData": {"a": "b"}, "data": {"c": "ZA=="}})

    assert secret["data"] == {"c": "ZA==", "a": "Yg=="}
    assert "stringData" not in secret
    assert row(SECRET, secret)["Data"] == 2
    assert row(SECRET, secret)["Type"] == "Opaque"
    config = {"metadata": META, "data": {"a": "b"}, "binaryData": {"c": "ZA=="}}
    assert row(CONFIG_MAP, config) == {"Name": "x", "Data": 2, "Age": META["creationTimestamp"]}
    assert row(SERVICE_ACCOUNT, {"metadata": META})["Secrets"] == 0


def test_data_that_is_no_base64_or_immutable_is_refused() -> None:
    assert messages(SECRET, {"data": {"a": "?"}}) == [("data[a]", "Invalid value: is no base64")]
    assert messages(SECRET, {"data": {"a": None}}) == []
    old = {"data": {"a": "b"}, "immutable": True}
    assert [one[0] for one in messages(CONFIG_MAP, {"data": {}, "immutable": True}, old)] == [
        "data"
    ]
    assert messages(SECRET, {"type": "x"}, {"type": "Opaque"})[0][0] == "type"


def test_a_node_says_whether_it_is_ready_and_its_roles() -> None:
    labels = {"node-role.kubernetes.io/edge": "", "node-role.kubernetes.io/control-plane": ""}
    node = {
        "metadata": META | {"labels": labels},
        "spec": {"unschedulable": True},
        "status": {
            "conditions": [{"type": "Ready", "status": "True"}],
            "addresses": [{"type": "InternalIP", "address": "10.0.0.1"}],
            "nodeInfo": {"kubeletVersion": "v1.37.1"},
        },
    }
    cells = row(NODE, node, is_wide=True)

    assert cells["Status"] == "Ready,SchedulingDisabled"
    assert cells["Roles"] == "control-plane,edge"
    assert (cells["Version"], cells["Internal-IP"]) == ("v1.37.1", "10.0.0.1")
    assert cells["External-IP"] == "<none>"
    assert row(NODE, {"metadata": META})["Status"] == "Unknown"
    assert row(NODE, {"metadata": META})["Roles"] == "<none>"


def test_an_event_is_told_by_what_it_is_about_and_when_it_was_seen_last() -> None:
    event = {
        "metadata": META,
        "type": "Normal",
        "reason": "Scaled",
        "message": " up \n",
        "involvedObject": {"kind": "Deployment", "name": "web"},
        "source": {"component": "gputide", "host": "n1"},
        "firstTimestamp": "2026-01-01T00:00:00Z",
        "lastTimestamp": "2026-01-02T00:00:00Z",
        "count": 3,
    }
    cells = row(EVENT, event, is_wide=True)

    assert list(row(EVENT, event).values()) == [
        "2026-01-02T00:00:00Z",
        "Normal",
        "Scaled",
        "deployment/web",
        "up",
    ]
    assert (cells["Source"], cells["Count"], cells["Name"]) == ("gputide, n1", 3, "x")
    assert row(EVENT, {"metadata": META, "eventTime": "t"})["Last Seen"] == "t"


def test_a_lease_names_its_holder() -> None:
    assert row(LEASE, {"metadata": META, "spec": {"holderIdentity": "me"}})["Holder"] == "me"
