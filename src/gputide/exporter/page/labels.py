"""Label sets as text: dcgm-exporter's order, escaped, capped, and kept until something changes."""

import re
from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from typing import Generic, TypeVar

from gputide.exporter.model import Container, Device, MigInstance
from gputide.exporter.options import HostLabel, PageOptions
from gputide.exposition import Labels
from gputide.exposition.text import prefix

Kept = TypeVar("Kept")

_NOT_IN_A_NAME = re.compile(r"[^a-zA-Z0-9_]")
_POD_NAMES = frozenset({"container", "namespace", "pod", "pod_uid"})


@dataclass(frozen=True, slots=True)
class LabelText:
    """`{a="b",...} ` as it stands between name and value, and what was cut from it."""

    text: str
    shortened_values: int = 0
    dropped_pod_labels: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Holder:
    """The container that a series belongs to, or nobody."""

    owner: Container | None = None
    extra: Labels = ()
    """Further attributes, sorted among the pod's: err_code, err_msg."""


def device_labels(
    device: Device,
    instance: MigInstance | None,
    label_fields: Labels,
    node_name: str,
    options: PageOptions,
) -> Labels:
    """Return a GPU's labels in dcgm-exporter's order, without those of its holder."""
    model = device.model_name
    if options.is_blank_replaced_in_model_name:
        model = "-".join(model.split())
    labels = [("gpu", str(device.index)), (uuid_name(options), device.uuid)]
    if options.has_pci_bus_id:
        labels.append(("pci_bus_id", device.pci_bus_id))
    labels += [("device", f"nvidia{device.minor_number}"), ("modelName", model)]
    if instance is not None:
        labels.append(("GPU_I_PROFILE", instance.profile))
        labels.append(("GPU_I_ID", str(instance.gpu_instance_id)))
    if options.host_label is not HostLabel.NONE:
        labels.append((options.host_label.value, node_name))
    if options.has_node_labels:
        labels += node_labels(node_name, options)
    return (*labels, *sorted(label_fields))


def uuid_name(options: PageOptions) -> str:
    """Return the name of the label with the GPU's UUID."""
    return "uuid" if options.is_old_namespace else "UUID"


def node_labels(node_name: str, options: PageOptions) -> Labels:
    """Return the node's labels as Alibaba Cloud names them; what is not set is left out."""
    labels = [("NodeName", node_name)]
    if options.node_pool_id:
        labels.append(("NodePoolId", options.node_pool_id))
    if options.pod_source:
        labels.append(("PodSource", options.pod_source))
    return tuple(labels)


def holder_labels(holder: Holder, taken: Iterable[str], options: PageOptions) -> tuple[Labels, int]:
    """Return the holder's labels sorted by name, and how many pod labels did not fit."""
    owner, dropped = holder.owner, 0
    labels = dict(holder.extra)
    if owner is not None:
        if options.has_pod_labels:
            chosen, dropped = _pod_labels(owner, frozenset(taken), options)
            labels |= chosen
        labels |= {"container": owner.container, "namespace": owner.namespace, "pod": owner.pod}
        if options.has_pod_uid and owner.pod_uid:
            labels["pod_uid"] = owner.pod_uid
    elif options.is_idle_labelled:
        labels |= {"container": "", "namespace": "", "pod": ""}
    return tuple(sorted(labels.items())), dropped


def _pod_labels(
    owner: Container, taken: frozenset[str], options: PageOptions
) -> tuple[dict[str, str], int]:
    """Return pod labels under names that Prometheus takes, and how many were dropped.

    A name that is a label of the series already gets the prefix `label_`; of two that become the
    same name the first one stays.
    """
    patterns = options.pod_label_patterns
    chosen: dict[str, str] = {}
    dropped = 0
    for key, value in sorted(owner.pod_labels.items()):
        if patterns and not any(pattern.search(key) for pattern in patterns):
            continue
        name = _NOT_IN_A_NAME.sub("_", key)
        if name[:1].isdigit() or not name:
            name = f"_{name}"
        if name in taken or name in _POD_NAMES:
            name = f"label_{name}"
        if name in chosen or len(chosen) >= options.max_pod_labels:
            dropped += 1
        else:
            chosen[name] = value
    return chosen, dropped


def label_text(labels: Labels, dropped: int, options: PageOptions) -> LabelText:
    """Return the labels as text, values cut to the limit."""
    limit = options.max_label_characters
    shortened = sum(len(value) > limit for _, value in labels)
    if shortened:
        labels = tuple(
            (name, value if len(value) <= limit else f"{value[: limit - 1]}…")
            for name, value in labels
        )
    return LabelText(prefix("", labels), shortened, dropped)


class LabelCache(Generic[Kept]):
    """What was made of labels, by key, as long as what it was made from stays equal.

    What one page does not ask for is forgotten, so that the cache never outgrows a page.
    """

    def __init__(self) -> None:
        self._old: dict[Hashable, tuple[object, Kept]] = {}
        self._new: dict[Hashable, tuple[object, Kept]] = {}

    def find(self, key: Hashable, made_from: object) -> Kept | None:
        """Return what is kept under `key`, if it was made from something equal."""
        entry = self._old.get(key)
        if entry is None or entry[0] != made_from:
            return None
        self._new[key] = entry
        return entry[1]

    def keep(self, key: Hashable, made_from: object, made: Kept) -> Kept:
        """Remember what was made."""
        self._new[key] = (made_from, made)
        return made

    def turn(self) -> None:
        """End a page: forget what it did not ask for."""
        self._old, self._new = self._new, {}
