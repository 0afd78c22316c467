"""Whom to ask for the owners of GPUs, and how long an answer counts. Pure."""

import re
from dataclasses import dataclass
from enum import StrEnum

from gputide.errors import SettingError

KUBELET_SOCKET = "/var/lib/kubelet/pod-resources/kubelet.sock"


class MemoryUnit(StrEnum):
    """What one `aliyun.com/gpu-mem` is; the device plugin's choice for the whole node."""

    AUTO = "auto"
    """MiB where some pod or GPU has more units than a GPU has GiB, else GiB."""

    GIB = "GiB"
    MIB = "MiB"


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnerSettings:
    """Sources of owners; each can be left out."""

    node_name: str = ""
    """The node's name in Kubernetes (spec.nodeName of its pods), not always the host's."""

    kubelet_socket: str = KUBELET_SOCKET
    """The kubelet's pod-resources socket; empty asks no kubelet."""

    resource_names: tuple[str, ...] = ()
    """Further resources of GPUs; nvidia.com/gpu, gpu.shared and mig-* are always among them."""

    has_kube_api: bool = True
    """Ask the Kubernetes API for pods: labels, uids, sharing annotations, owners of processes."""

    kubeconfig: str = ""
    """A kubeconfig file; empty: the service account, else $KUBECONFIG, else ~/.kube/config."""

    has_pod_labels: bool = False
    pod_label_patterns: tuple[re.Pattern[str], ...] = ()
    """Pod labels to keep, by `search` on the label's name; all where empty."""

    proc_root: str = "/proc"
    """Where the host's processes are seen; empty looks at no process."""

    memory_unit: MemoryUnit = MemoryUnit.AUTO
    ttl_seconds: float = 1
    """An answer as old as that is asked for anew."""

    deadline_seconds: float = 5
    """For one question to the kubelet or the API."""

    max_age_seconds: float = 60
    """An older answer is not used where no newer one can be had."""

    def __post_init__(self) -> None:
        for name in ("ttl", "deadline", "max_age"):
            if not 0 < getattr(self, f"{name}_seconds") < float("inf"):
                raise SettingError(f"owners-{name.replace('_', '-')}-seconds", "must be above 0")
        if self.max_age_seconds < self.ttl_seconds:
            raise SettingError("owners-max-age-seconds", f"is under {self.ttl_seconds:g} s")
