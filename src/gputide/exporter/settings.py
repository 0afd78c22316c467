"""The exporter's settings: its own, and dcgm-exporter's flags and variables under their own names.

So a DaemonSet is switched by its image: the arguments and the environment may stay.
"""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gputide.errors import SettingError
from gputide.exporter.options import HostLabel, PageOptions

DEFAULT_INTERVAL_MILLISECONDS = 5000
KUBELET_SOCKET = Path("/var/lib/kubelet/pod-resources/kubelet.sock")
DCGM_FOLDER = Path("/etc/dcgm-exporter")
"""Where dcgm-exporter's image has its own lists; ours has them built in."""

BUILT_IN_LISTS = ("default-counters.csv", "dcp-metrics-included.csv")


def _variables(option: str, *theirs: str) -> list[str]:
    """Return the variables of an option; ours wins."""
    return [f"GPUTIDE_EXPORTER_{option.upper().replace('-', '_')}", *theirs]


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ExporterSettings:
    """What to read, whom to ask for owners, how to print and how to serve."""

    collectors: Annotated[
        Path | None,
        Parameter(
            name=["--collectors", "-f"],
            env_var=_variables("collectors", "DCGM_EXPORTER_COLLECTORS"),
        ),
    ] = None
    """dcgm-exporter's counters file: which fields to print; its default list if not given."""

    address: Annotated[
        str,
        Parameter(name=["--address", "-a"], env_var=_variables("address", "DCGM_EXPORTER_LISTEN")),
    ] = ":9400"
    """Where to serve: HOST:PORT, [IPv6]:PORT, or unix:PATH."""

    collect_interval: Annotated[
        int,
        Parameter(
            name=["--collect-interval", "-c"],
            env_var=_variables("collect-interval", "DCGM_EXPORTER_INTERVAL"),
        ),
    ] = DEFAULT_INTERVAL_MILLISECONDS
    """Milliseconds between readings of a GPU."""

    web_config_file: Annotated[
        Path | None,
        Parameter(env_var=_variables("web-config-file", "DCGM_EXPORTER_WEB_CONFIG_FILE")),
    ] = None
    """Prometheus web configuration file: TLS, client certificates, users, rate limit."""

    node_name: Annotated[str, Parameter(env_var=_variables("node-name", "NODE_NAME"))] = ""
    """Name of this node in labels; the machine's host name if not given."""

    kubernetes: Annotated[
        bool,
        Parameter(
            name=["--kubernetes", "-k"],
            env_var=_variables("kubernetes", "DCGM_EXPORTER_KUBERNETES"),
        ),
    ] = False
    """Ask the kubelet which pods hold the GPUs."""

    pod_resources_kubelet_socket: Annotated[
        Path,
        Parameter(
            env_var=_variables("pod-resources-kubelet-socket", "DCGM_POD_RESOURCES_KUBELET_SOCKET")
        ),
    ] = KUBELET_SOCKET
    """The kubelet's pod-resources socket."""

    nvidia_resource_names: Annotated[
        tuple[str, ...],
        Parameter(env_var=_variables("nvidia-resource-names", "NVIDIA_RESOURCE_NAMES")),
    ] = ()
    """Names of GPU resources beside nvidia.com/gpu and nvidia.com/mig-*, joined by commas."""

    kubernetes_enable_pod_labels: Annotated[
        bool,
        Parameter(
            env_var=_variables(
                "kubernetes-enable-pod-labels", "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_LABELS"
            )
        ),
    ] = False
    """Print the pods' labels, too; needs the Kubernetes API."""

    kubernetes_pod_label_allowlist_regex: Annotated[
        tuple[str, ...],
        Parameter(
            env_var=_variables(
                "kubernetes-pod-label-allowlist-regex",
                "DCGM_EXPORTER_KUBERNETES_POD_LABEL_ALLOWLIST_REGEX",
            )
        ),
    ] = ()
    """Which pod labels, by regular expressions joined by commas; all if not given."""

    kubernetes_enable_pod_uid: Annotated[
        bool,
        Parameter(
            env_var=_variables(
                "kubernetes-enable-pod-uid", "DCGM_EXPORTER_KUBERNETES_ENABLE_POD_UID"
            )
        ),
    ] = False
    """Print the pods' uids, too; needs the Kubernetes API."""

    no_hostname: Annotated[
        bool,
        Parameter(
            name=["--no-hostname", "-n"],
            env_var=_variables("no-hostname", "DCGM_EXPORTER_NO_HOSTNAME"),
        ),
    ] = False
    """Leave out the label with the node's name."""

    hostname_label: Literal["Hostname", "hostname"] = "Hostname"
    """Name of that label: dcgm-exporter's up to 4.8.2, or the one after."""

    use_old_namespace: Annotated[
        bool,
        Parameter(
            name=["--use-old-namespace", "-o"],
            env_var=_variables("use-old-namespace", "DCGM_EXPORTER_USE_OLD_NAMESPACE"),
        ),
    ] = False
    """Label uuid instead of UUID, as in dcgm-exporter 1.x."""

    replace_blanks_in_model_name: Annotated[
        bool,
        Parameter(
            name=["--replace-blanks-in-model-name", "--rbmn"],
            env_var=_variables(
                "replace-blanks-in-model-name", "DCGM_EXPORTER_REPLACE_BLANKS_IN_MODEL_NAME"
            ),
        ),
    ] = False
    """No blanks in the label modelName."""

    xid_count_window_size: Annotated[
        int,
        Parameter(
            name=["--xid-count-window-size", "-x"],
            env_var=_variables("xid-count-window-size", "DCGM_EXPORTER_XID_COUNT_WINDOW_SIZE"),
        ),
    ] = 300_000
    """Milliseconds that DCGM_EXP_XID_ERRORS_COUNT looks back."""

    clock_events_count_window_size: Annotated[
        int,
        Parameter(
            env_var=_variables(
                "clock-events-count-window-size", "DCGM_EXPORTER_CLOCK_EVENTS_COUNT_WINDOW_SIZE"
            )
        ),
    ] = 300_000
    """Milliseconds that DCGM_EXP_CLOCK_EVENTS_COUNT looks back."""

    dcgm_metrics_only: bool = False
    """Leave out DCGM_CUSTOM_*: allocations, containers and processes."""

    pcie_throughput: bool = False
    """Measure PCIe traffic where GPM cannot; it blocks the driver for 40 ms a GPU each time."""

    max_processes: int = 1000
    """Most processes on a page; the ones with the least GPU memory are cut."""

    max_series: int = 100_000
    """Most series on a page; what comes last is cut, and gputide_exporter_cut says so."""

    log_format: Annotated[
        Literal["text", "json"],
        Parameter(env_var=_variables("log-format", "DCGM_EXPORTER_LOG_FORMAT")),
    ] = "text"
    """How to write the log, on standard error."""

    def __post_init__(self) -> None:
        _check_milliseconds("collect-interval", self.collect_interval, 100, 3_600_000)
        for name in ("xid-count-window-size", "clock-events-count-window-size"):
            _check_milliseconds(name, getattr(self, name.replace("-", "_")), 1000, 86_400_000)
        if self.kubernetes_enable_pod_labels and not self.kubernetes:
            raise SettingError("kubernetes-enable-pod-labels", "does nothing without --kubernetes")
        if self.kubernetes_enable_pod_uid and not self.kubernetes:
            raise SettingError("kubernetes-enable-pod-uid", "does nothing without --kubernetes")
        _ = self.page  # its limits and patterns are checked where they are made

    @property
    def interval_seconds(self) -> float:
        """Seconds between readings of a GPU."""
        return self.collect_interval / 1000

    @property
    def page(self) -> PageOptions:
        """How the page is printed."""
        return PageOptions(
            host_label=HostLabel.NONE if self.no_hostname else HostLabel(self.hostname_label),
            is_old_namespace=self.use_old_namespace,
            is_blank_replaced_in_model_name=self.replace_blanks_in_model_name,
            has_pod_uid=self.kubernetes_enable_pod_uid,
            has_pod_labels=self.kubernetes_enable_pod_labels,
            pod_label_patterns=_patterns(self.kubernetes_pod_label_allowlist_regex),
            has_custom=not self.dcgm_metrics_only,
            max_processes=self.max_processes,
            max_series=self.max_series,
            xid_window_seconds=self.xid_count_window_size / 1000,
            clock_event_window_seconds=self.clock_events_count_window_size / 1000,
        )


def split_lists(values: tuple[str, ...]) -> tuple[str, ...]:
    """Return values that were joined by commas, or given one by one.

    >>> split_lists(("a,b", "c"))
    ('a', 'b', 'c')
    """
    return tuple(filter(None, (part.strip() for value in values for part in value.split(","))))


def _check_milliseconds(name: str, value: int, least: int, most: int) -> None:
    if not least <= value <= most:
        raise SettingError(name, f"{value} ms; must be {least} to {most}")


def _patterns(texts: tuple[str, ...]) -> tuple[re.Pattern[str], ...]:
    try:
        return tuple(re.compile(text) for text in split_lists(texts))
    except re.error as error:
        problem = f"{error.pattern!r} is no regular expression: {error.msg}"
        raise SettingError("kubernetes-pod-label-allowlist-regex", problem) from error
