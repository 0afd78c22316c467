import re

import msgspec
import pytest

from fakes.kube_api import pod
from gputide.exporter.owners.kube_wire import Metadata, Spec, Status, pod_from
from gputide.exporter.owners.model import Pod
from gputide.exporter.owners.settings import OwnerSettings


def read(settings: OwnerSettings | None = None, **about: object) -> Pod:
    written = pod("chat", **about)  # type: ignore[arg-type]  # as the fake takes them
    return pod_from(
        msgspec.convert(written["metadata"], Metadata),
        msgspec.convert(written["spec"], Spec),
        msgspec.convert(written["status"], Status),
        settings or OwnerSettings(),
    )


def test_a_pod_is_read_with_what_tells_its_processes() -> None:
    found = read(
        containers={"main": {}, "side": {}},
        container_ids={"main": "containerd://abc", "side": "cri-o://def"},
    )

    assert (found.owner.namespace, found.owner.pod, found.owner.pod_uid) == (
        "demo",
        "chat",
        "uid-of-chat",
    )
    assert found.container_names == ("main", "side")
    assert found.container_ids == {"abc": "main", "def": "side"}


@pytest.mark.parametrize(
    ("limit", "units"),
    [("4", 4), ("10k", 10_000), ("16Ki", 16_384), ("0", None), ("-4", None), ("many", None)],
)
def test_limits_of_shared_memory_are_read_as_quantities(limit: str, units: int | None) -> None:
    found = read(containers={"main": {"aliyun.com/gpu-mem": limit}, "side": {"cpu": "1500m"}})

    assert found.gpu_memory_units == ({} if units is None else {"main": units})


def test_labels_are_kept_only_where_asked_for_and_allowed() -> None:
    labels = {"app": "chat", "team/name": "search", "pod-template-hash": "1"}
    every = OwnerSettings(has_pod_labels=True)
    some = OwnerSettings(
        has_pod_labels=True, pod_label_patterns=(re.compile("^app$"), re.compile("^team/"))
    )

    assert read(labels=labels).owner.pod_labels == {}
    assert read(every, labels=labels).owner.pod_labels == labels
    assert list(read(some, labels=labels).owner.pod_labels) == ["app", "team/name"]


def test_annotations_that_say_nothing_of_gpus_are_not_kept() -> None:
    annotations = {"kubectl.kubernetes.io/last-applied-configuration": "x" * 1000, "note": "y"}
    annotations["scheduler.framework.gpushare.allocation"] = "{}"

    assert read(annotations=annotations).annotations == {
        "scheduler.framework.gpushare.allocation": "{}"
    }


@pytest.mark.parametrize(
    ("phase", "is_over"),
    [("Running", False), ("Pending", False), ("Succeeded", True), ("Failed", True)],
)
def test_a_pods_end_is_told(phase: str, is_over: bool) -> None:  # noqa: FBT001 a test's parameter
    assert read(phase=phase).is_over is is_over
    assert not read(phase=phase).is_deleting
    assert read(is_deleting=True).is_deleting
