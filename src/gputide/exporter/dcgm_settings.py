"""dcgm-exporter's flags and variables that have no meaning here: taken, and said in one line."""

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Annotated, Any

from cyclopts import Parameter

from gputide.errors import SettingError

_PREFIX = "DCGM_EXPORTER_"
_SERVICE_LINK = re.compile(
    r".*_(SERVICE_HOST|SERVICE_PORT(_\w+)?|PORT(_\d+_(TCP|UDP|SCTP)(_\w+)?)?)"
)
"""Variables that Kubernetes makes for a Service of that name."""

_TAKEN = frozenset(
    {
        "COLLECTORS", "LISTEN", "INTERVAL", "WEB_CONFIG_FILE", "KUBERNETES",
        "KUBERNETES_ENABLE_POD_LABELS", "KUBERNETES_ENABLE_POD_UID", "NO_HOSTNAME",
        "KUBERNETES_POD_LABEL_ALLOWLIST_REGEX", "USE_OLD_NAMESPACE", "LOG_FORMAT",
        "REPLACE_BLANKS_IN_MODEL_NAME", "XID_COUNT_WINDOW_SIZE", "CLOCK_EVENTS_COUNT_WINDOW_SIZE",
    }
)  # fmt: skip
"""What ExporterSettings reads, without the prefix."""

_NO_ENGINE = "NVML is read on this node, without DCGM's host engine"
_ALL_DEVICES = "all GPUs and MIG instances of the node are read; there are no switches and CPUs"
_NO_DUMP = "there are no dump files; --once prints the page"
_NO_LOG = "there is no DCGM that could log"
_BOTH_IDS = "UUIDs and device names are both understood"
_SHARED = "shared GPUs are always told apart, each device once"
_FIXED = "the limits for slow clients are fixed"


def _flag(name: str, *, variable: str = "", short: str = "") -> Parameter:
    return Parameter(
        name=[f"--{name}", *([f"-{short}"] if short else [])],
        env_var=variable or _PREFIX + name.upper().replace("-", "_"),
        show=False,
    )


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class IgnoredSettings:
    """Flags of dcgm-exporter without effect; the reasons are in REASONS."""

    remote_hostengine_info: Annotated[
        str | None,
        _flag("remote-hostengine-info", short="r", variable="DCGM_REMOTE_HOSTENGINE_INFO"),
    ] = None
    kubernetes_gpu_id_type: Annotated[str | None, _flag("kubernetes-gpu-id-type")] = None
    kubernetes_virtual_gpus: Annotated[
        bool | None, _flag("kubernetes-virtual-gpus", variable="KUBERNETES_VIRTUAL_GPUS")
    ] = None
    kubernetes_enable_dra: Annotated[
        bool | None, _flag("kubernetes-enable-dra", variable="KUBERNETES_ENABLE_DRA")
    ] = None
    configmap_data: Annotated[str | None, _flag("configmap-data", short="m")] = None
    config_file: Annotated[str | None, _flag("config-file")] = None
    devices: Annotated[
        str | None, _flag("devices", short="d", variable="DCGM_EXPORTER_DEVICES_STR")
    ] = None
    switch_devices: Annotated[
        str | None, _flag("switch-devices", short="s", variable="DCGM_EXPORTER_OTHER_DEVICES_STR")
    ] = None
    cpu_devices: Annotated[
        str | None, _flag("cpu-devices", short="p", variable="DCGM_EXPORTER_CPU_DEVICES_STR")
    ] = None
    fake_gpus: Annotated[
        bool | None, _flag("fake-gpus", variable="DCGM_EXPORTER_USE_FAKE_GPUS")
    ] = None
    hpc_job_mapping_dir: Annotated[
        str | None, _flag("hpc-job-mapping-dir", variable="DCGM_HPC_JOB_MAPPING_DIR")
    ] = None
    container_labels: Annotated[bool | None, _flag("container-labels")] = None
    container_runtime_socket: Annotated[
        str | None, _flag("container-runtime-socket", variable="DCGM_CONTAINER_RUNTIME_SOCKET")
    ] = None
    web_systemd_socket: Annotated[bool | None, _flag("web-systemd-socket")] = None
    web_read_timeout: Annotated[str | None, _flag("web-read-timeout")] = None
    web_write_timeout: Annotated[str | None, _flag("web-write-timeout")] = None
    enable_dcgm_log: Annotated[bool | None, _flag("enable-dcgm-log")] = None
    dcgm_log_level: Annotated[str | None, _flag("dcgm-log-level")] = None
    debug: Annotated[bool | None, _flag("debug")] = None
    enable_pprof: Annotated[bool | None, _flag("enable-pprof")] = None
    dump_enabled: Annotated[bool | None, _flag("dump-enabled")] = None
    dump_directory: Annotated[str | None, _flag("dump-directory")] = None
    dump_retention: Annotated[int | None, _flag("dump-retention")] = None
    dump_compression: Annotated[bool | None, _flag("dump-compression")] = None
    disable_startup_validate: Annotated[bool | None, _flag("disable-startup-validate")] = None
    enable_gpu_bind_unbind_watch: Annotated[bool | None, _flag("enable-gpu-bind-unbind-watch")] = (
        None
    )
    gpu_bind_unbind_poll_interval: Annotated[str | None, _flag("gpu-bind-unbind-poll-interval")] = (
        None
    )


REASONS = {
    "remote_hostengine_info": _NO_ENGINE,
    "kubernetes_gpu_id_type": _BOTH_IDS,
    "kubernetes_virtual_gpus": _SHARED,
    "kubernetes_enable_dra": "claims of Dynamic Resource Allocation are not mapped yet",
    "configmap_data": "no ConfigMap is read: mount it, and give its file by -f",
    "config_file": "no YAML is read: give flags or variables",
    "devices": _ALL_DEVICES,
    "switch_devices": _ALL_DEVICES,
    "cpu_devices": _ALL_DEVICES,
    "fake_gpus": "--simulate makes GPUs that are not there",
    "hpc_job_mapping_dir": "jobs of batch systems are not mapped",
    "container_labels": "pods come from the kubelet, not from the container runtime",
    "container_runtime_socket": "pods come from the kubelet, not from the container runtime",
    "web_systemd_socket": "sockets of systemd are not taken: give --address",
    "web_read_timeout": _FIXED,
    "web_write_timeout": _FIXED,
    "enable_dcgm_log": _NO_LOG,
    "dcgm_log_level": _NO_LOG,
    "debug": "there is one level of detail",
    "enable_pprof": "there is no profiler inside",
    "dump_enabled": _NO_DUMP,
    "dump_directory": _NO_DUMP,
    "dump_retention": _NO_DUMP,
    "dump_compression": _NO_DUMP,
    "disable_startup_validate": "nothing is validated that could stop the start",
    "enable_gpu_bind_unbind_watch": "GPUs that come and go are always looked for",
    "gpu_bind_unbind_poll_interval": "GPUs that come and go are always looked for",
}
"""Why each has no effect."""

HARMLESS: dict[str, Any] = {
    "remote_hostengine_info": ("", "localhost:5555"),
    "configmap_data": ("", "none"),
    "devices": ("", "f", "g+i"),
    "switch_devices": ("", "f"),
    "cpu_devices": ("", "f"),
    "dcgm_log_level": ("", "NONE"),
}
"""Values that ask for what is done anyway; about these nothing is said."""


def ignored(settings: IgnoredSettings) -> dict[str, str]:
    """Return the flags that were given without effect, each with the reason."""
    found = {}
    for each in fields(settings):
        value = getattr(settings, each.name)
        if value in (None, False, "") or value in HARMLESS.get(each.name, ()):
            continue
        found["--" + each.name.replace("_", "-")] = REASONS[each.name]
    return found


def check_variables(names: Iterable[str]) -> None:
    """Raise SettingError at a DCGM_EXPORTER_* variable that dcgm-exporter does not have."""
    known = {_PREFIX + name for name in _TAKEN} | set(_ignored_variables())
    for name in sorted(names):
        if name.startswith(_PREFIX) and name not in known and not _SERVICE_LINK.fullmatch(name):
            raise SettingError(name, "is no variable of dcgm-exporter: take it out, or mend it")


def _ignored_variables() -> Iterable[str]:
    for each in fields(IgnoredSettings):
        for parameter in getattr(each.type, "__metadata__", ()):
            yield from parameter.env_var or ()
