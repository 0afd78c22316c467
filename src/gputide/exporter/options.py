"""How a page is printed: label styles, what is repeated, and the limits."""

import re
from dataclasses import dataclass
from enum import StrEnum

from gputide.errors import SettingError


class HostLabel(StrEnum):
    """Name of the label with the node's name: dcgm-exporter before and after May 2026, or none."""

    UPPER = "Hostname"
    LOWER = "hostname"
    NONE = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PageOptions:
    """What a page says beside the selected metrics, and how much at most."""

    host_label: HostLabel = HostLabel.UPPER
    is_old_namespace: bool = False
    """`uuid` instead of `UUID`, as dcgm-exporter's `-o`; old names come by the counters file."""

    has_pci_bus_id: bool = True
    is_blank_replaced_in_model_name: bool = False
    """Dashes for blanks in `modelName`."""

    has_pod_uid: bool = False
    has_pod_labels: bool = False
    pod_label_patterns: tuple[re.Pattern[str], ...] = ()
    """Pod labels to print, by `search` on the label's name; all where empty."""

    is_idle_labelled: bool = False
    """Print container, namespace and pod empty where nobody holds the GPU, as before 2024."""

    is_card_repeated: bool = False
    """In MIG mode print the card's values for each instance, as DCGM does: sums count it often."""

    has_xid_text: bool = False
    """Labels `err_code` and `err_msg` on DCGM_FI_DEV_XID_ERRORS."""

    has_custom: bool = True
    """DCGM_CUSTOM_* as well."""

    node_pool_id: str = ""
    pod_source: str = ""
    has_node_labels: bool = False
    """NodeName, NodePoolId and PodSource on DCGM_FI_* too, as Alibaba Cloud prints them."""

    xid_window_seconds: float = 300
    clock_event_window_seconds: float = 300

    max_label_characters: int = 256
    max_pod_labels: int = 32
    """On one series."""

    max_processes: int = 1000
    """On one page; the ones with the least GPU memory are cut."""

    max_series: int = 100_000
    """Of GPUs, containers and processes on one page; what comes last is cut."""

    def __post_init__(self) -> None:
        limits = {
            "max-label-characters": self.max_label_characters,
            "xid-window-seconds": self.xid_window_seconds,
            "clock-event-window-seconds": self.clock_event_window_seconds,
        }
        for setting, value in limits.items():
            if not value > 0:
                raise SettingError(setting, f"must be above 0, not {value}")
        counts = {
            "max-pod-labels": self.max_pod_labels,
            "max-processes": self.max_processes,
            "max-series": self.max_series,
        }
        for setting, count in counts.items():
            if count < 0:
                raise SettingError(setting, f"must be 0 or more, not {count}")
