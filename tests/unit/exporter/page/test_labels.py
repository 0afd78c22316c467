import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from fakes.gpu_nodes import container, gpu
from gputide.exporter.model import MigInstance
from gputide.exporter.options import HostLabel, PageOptions
from gputide.exporter.page.labels import (
    Holder,
    LabelCache,
    device_labels,
    holder_labels,
    label_text,
)
from gputide.exposition import Labels, parse

T4 = gpu("Tesla T4", index=3)
INSTANCE = MigInstance(gpu_instance_id=9, uuid="MIG-9", profile="1g.5gb", memory_bytes=1)
FIELDS: Labels = (("DCGM_FI_NVML_VERSION", "12"), ("DCGM_FI_DRIVER_VERSION", "535"))


def names(labels: Labels) -> list[str]:
    return [name for name, _ in labels]


def test_labels_stand_in_dcgm_exporters_order_with_label_fields_sorted() -> None:
    labels = device_labels(T4, INSTANCE, FIELDS, "n1", PageOptions())

    assert labels == (
        ("gpu", "3"),
        ("UUID", T4.uuid),
        ("pci_bus_id", "00000000:09:00.0"),
        ("device", "nvidia3"),
        ("modelName", "Tesla T4"),
        ("GPU_I_PROFILE", "1g.5gb"),
        ("GPU_I_ID", "9"),
        ("Hostname", "n1"),
        ("DCGM_FI_DRIVER_VERSION", "535"),
        ("DCGM_FI_NVML_VERSION", "12"),
    )


def test_each_label_style_can_be_chosen() -> None:
    options = PageOptions(
        host_label=HostLabel.LOWER,
        is_old_namespace=True,
        has_pci_bus_id=False,
        is_blank_replaced_in_model_name=True,
        has_node_labels=True,
        node_pool_id="np1",
        pod_source="ecs",
    )
    labels = device_labels(T4, None, (), "n1", options)

    assert names(labels) == [
        "gpu",
        "uuid",
        "device",
        "modelName",
        "hostname",
        "NodeName",
        "NodePoolId",
        "PodSource",
    ]
    assert ("modelName", "Tesla-T4") in labels
    none = device_labels(T4, None, (), "n1", PageOptions(host_label=HostLabel.NONE))
    assert not {"Hostname", "hostname", ""} & set(names(none))


def test_holders_labels_are_sorted_with_the_pods_own_among_them() -> None:
    owner = container("web-0", app="web", zone="a")
    options = PageOptions(has_pod_uid=True, has_pod_labels=True)

    labels, dropped = holder_labels(Holder(owner=owner), (), options)

    assert labels == (
        ("app", "web"),
        ("container", "main"),
        ("namespace", "models"),
        ("pod", "web-0"),
        ("pod_uid", "uid-web-0"),
        ("zone", "a"),
    )
    assert dropped == 0


def test_an_idle_gpu_has_no_pod_labels_or_empty_ones() -> None:
    assert holder_labels(Holder(), (), PageOptions()) == ((), 0)
    labels, _ = holder_labels(Holder(), (), PageOptions(is_idle_labelled=True))
    assert labels == (("container", ""), ("namespace", ""), ("pod", ""))


def test_pod_labels_get_names_that_prometheus_takes_and_take_no_others_place() -> None:
    owner = replace(
        container("web-0"),
        pod_labels={
            "app.kubernetes.io/name": "web",
            "app-kubernetes-io/name": "second",
            "pod": "mine",
            "gpu": "mine",
            "1st": "x",
        },
    )

    labels, dropped = holder_labels(Holder(owner=owner), ("gpu",), PageOptions(has_pod_labels=True))

    assert dict(labels) == {
        "_1st": "x",
        "app_kubernetes_io_name": "second",
        "container": "main",
        "label_gpu": "mine",
        "label_pod": "mine",
        "namespace": "models",
        "pod": "web-0",
    }
    assert dropped == 1


def test_pod_labels_are_chosen_by_pattern_and_limited() -> None:
    owner = replace(
        container("web-0"), pod_labels={f"team-{i}": "x" for i in range(5)} | {"a": "b"}
    )
    options = PageOptions(
        has_pod_labels=True, pod_label_patterns=(re.compile("^team-"),), max_pod_labels=2
    )

    labels, dropped = holder_labels(Holder(owner=owner), (), options)

    assert [name for name in names(labels) if name.startswith("team")] == ["team_0", "team_1"]
    assert "a" not in names(labels)
    assert dropped == 3


def test_a_long_value_is_shortened_and_counted() -> None:
    text = label_text((("a", "x" * 20), ("b", "y")), 0, PageOptions(max_label_characters=5))

    assert text.text == '{a="xxxx…",b="y"} '
    assert text.shortened_values == 1


@given(value=st.text(max_size=30))
def test_any_value_survives_the_page(value: str) -> None:
    line = "m" + label_text((("a", value),), 0, PageOptions()).text + "1\n"
    clean = value.encode("utf-8", "replace").decode()

    assert parse(line.encode("utf-8", "replace"))[0].samples[0].labels == (("a", clean),)


def test_the_cache_gives_back_what_was_made_from_the_same_and_forgets_the_unasked() -> None:
    cache = LabelCache[str]()
    cache.keep("gpu0", ("a",), "text")
    cache.turn()

    assert cache.find("gpu0", ("b",)) is None
    assert cache.find("gpu0", ("a",)) == "text"
    cache.turn()
    cache.turn()
    assert cache.find("gpu0", ("a",)) is None
