"""From a process to its pod, by /proc/PID/cgroup; needs the host's process ids (hostPID).

Paths as kubelets and runtimes make them:

    0::/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-podUID.slice/cri-containerd-ID.scope
    5:memory:/kubepods/besteffort/podUID/ID
    0::/system.slice/containerd.service/kubepods-podUID.slice:cri-containerd:ID
    0::/../../podUID/ID      seen from within a container that has its own view of control groups

The systemd driver writes `_` for `-` in the uid.
"""

import re
from collections.abc import Iterable
from pathlib import Path

from gputide.exporter.owners.model import Cgroup, SeenProcesses

MAX_CGROUP_BYTES = 64 * 1024
_UID = re.compile(
    r"(?:^|-)pod([0-9a-f]{8}[-_]?(?:[0-9a-f]{4}[-_]?){3}[0-9a-f]{12})(?:\.slice)?(?:$|:)"
)
_CONTAINER = re.compile(r"(?:^|[-:])([0-9a-f]{64})(?:\.scope)?$")
_INITIAL_PID_NAMESPACE = "pid:[4026531836]"  # PROC_PID_INIT_INO, fixed in the kernel
NOT_HOST_PID = (
    "processes are not attributed to pods: the exporter does not see the host's processes;"
    " set hostPID: true"
)


def parse(text: str) -> Cgroup:
    """Return pod and container of a /proc/PID/cgroup; empty where no line names them."""
    pod_uid = container_id = ""
    for line in text.splitlines():
        parts = line.split(":", 2)
        for part in parts[2].split("/") if len(parts) == 3 else ():
            uid = _UID.search(part)
            container = _CONTAINER.search(part)
            pod_uid = uid[1].replace("_", "-") if uid else pod_uid
            # The outermost: Kubernetes knows no container within a container.
            if container and not container_id:
                container_id = container[1]
    return Cgroup(pod_uid, container_id)


class ProcFiles:
    """A /proc with the host's processes."""

    def __init__(self, root: str = "/proc") -> None:
        self._root = Path(root)

    def look(self, pids: Iterable[int]) -> SeenProcesses:
        """Return what can be seen of those processes; one that is gone is left out."""
        wanted = tuple(pids)
        if not wanted:
            return SeenProcesses(cgroups={})
        if not self._sees_host():
            # Our own processes may have the numbers of the host's: never look those up.
            return SeenProcesses(cgroups={}, problem=NOT_HOST_PID)
        cgroups: dict[int, Cgroup] = {}
        denied = 0
        for pid in wanted:
            try:
                text = self._read(pid)
            except PermissionError:
                denied += 1
            except OSError:
                continue  # it has ended
            else:
                cgroups[pid] = parse(text)
        problem = ""
        if denied:
            problem = (
                f"{denied} processes are not attributed to pods: {self._root}/PID/cgroup may not"
                " be read (hidepid?); run as user 0"
            )
        return SeenProcesses(cgroups=cgroups, problem=problem)

    def _read(self, pid: int | str) -> str:
        with (self._root / str(pid) / "cgroup").open("rb") as file:
            return file.read(MAX_CGROUP_BYTES).decode("utf-8", "replace")

    def _sees_host(self) -> bool:
        """Return whether pids here are the host's.

        In the first namespace they are. In another (a container; a node that is one itself) they
        are where process 1 is not of our own container or pod.
        """
        try:
            if str((self._root / "self" / "ns" / "pid").readlink()) == _INITIAL_PID_NAMESPACE:
                return True
            own, first = self._read("self"), self._read(1)
        except OSError:
            return True  # then each process tells by itself
        return own != first and parse(first) == Cgroup("", "")
