from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.exporter.owners.cgroup import NOT_HOST_PID, ProcFiles, parse
from gputide.exporter.owners.model import Cgroup

UID = "0a1b2c3d-1111-2222-3333-444455556666"
SYSTEMD_UID = UID.replace("-", "_")
ID = "ab" * 32
HOST = "pid:[4026531836]"
BURSTABLE = "kubepods.slice/kubepods-burstable.slice"


@pytest.mark.parametrize(
    ("text", "uid", "container"),
    [
        (f"0::/{BURSTABLE}/kubepods-burstable-pod{SYSTEMD_UID}.slice/cri-containerd-{ID}.scope",
         UID, ID),
        (f"0::/kubepods.slice/kubepods-pod{SYSTEMD_UID}.slice/crio-{ID}.scope", UID, ID),
        (f"0::/kubepods.slice/kubepods-pod{SYSTEMD_UID}.slice/crio-{ID}.scope/container", UID, ID),
        (f"0::/kubepods.slice/kubepods-pod{SYSTEMD_UID}.slice/docker-{ID}.scope", UID, ID),
        (f"0::/kubelet-kubepods.slice/kubelet-kubepods-pod{SYSTEMD_UID}.slice/crio-{ID}.scope",
         UID, ID),
        (f"0::/kubepods/besteffort/pod{UID}/{ID}", UID, ID),
        (f"12:cpuset:/kubepods/pod{UID}/{ID}\n3:memory:/kubepods/pod{UID}/{ID}\n0::/", UID, ID),
        (f"5:cpu:/system.slice/kubepods-pod{SYSTEMD_UID}.slice:cri-containerd:{ID}", UID, ID),
        (f"0::/../../pod{UID}/{ID}", UID, ID),
        (f"0::/../cri-containerd-{ID}.scope", "", ID),
        (f"0::/kubepods/burstable/pod{'0f' * 16}/{ID}", "0f" * 16, ID),
        (f"0::/system.slice/docker-{ID}.scope", "", ID),
        (f"0::/kubepods/pod{UID}/{ID}/kubepods/pod{UID}/{'cd' * 32}", UID, ID),
        ("0::/init.scope", "", ""),
        ("0::/user.slice/podman-1.scope", "", ""),
        ("", "", ""),
        ("nonsense", "", ""),
    ],
)  # fmt: skip
def test_pod_and_container_are_read_from_each_drivers_paths(
    text: str, uid: str, container: str
) -> None:
    assert parse(text) == Cgroup(uid, container)


@given(st.text())
def test_any_text_is_read(text: str) -> None:
    assert isinstance(parse(text), Cgroup)


def proc(root: Path, cgroups: dict[str, str], namespace: str = HOST) -> ProcFiles:
    for pid, text in cgroups.items():
        (root / pid).mkdir()
        (root / pid / "cgroup").write_text(text)
    (root / "self" / "ns").mkdir(parents=True, exist_ok=True)
    (root / "self" / "ns" / "pid").symlink_to(namespace)
    return ProcFiles(str(root))


def test_processes_are_looked_up_and_those_that_ended_left_out(tmp_path: Path) -> None:
    files = proc(tmp_path, {"10": f"0::/kubepods/pod{UID}/{ID}", "11": "0::/init.scope"})

    seen = files.look([10, 11, 12])

    assert seen.cgroups == {10: Cgroup(UID, ID), 11: Cgroup("", "")}
    assert seen.problem == ""


def test_without_the_hosts_processes_none_is_looked_up_and_the_setting_is_named(
    tmp_path: Path,
) -> None:
    """Pid 10 here is a process of our own container, not the one on the GPU."""
    own = f"0::/kubepods/pod{UID}/{ID}"
    files = proc(tmp_path, {"1": own, "self": own, "10": own}, namespace="pid:[4026532000]")

    seen = files.look([10])

    assert (seen.cgroups, seen.problem) == ({}, NOT_HOST_PID)


@pytest.mark.parametrize(
    ("first", "own", "is_host"),
    [
        ("0::/init.scope", f"0::/kubepods/pod{UID}/{ID}", True),  # a node that is a container
        ("0::/../../../init.scope", "0::/", True),
        ("0::/", "0::/", False),
        (f"0::/../cri-containerd-{ID}.scope", "0::/", False),  # the pause container of our pod
    ],
)
def test_a_nested_nodes_processes_are_told_from_our_own(
    tmp_path: Path,
    first: str,
    own: str,
    is_host: bool,  # noqa: FBT001 a parameter of the test
) -> None:
    files = proc(tmp_path, {"1": first, "self": own, "10": own}, namespace="pid:[4026532000]")

    assert (files.look([10]).problem == "") is is_host


def test_a_proc_that_shows_no_namespace_is_taken_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "10").mkdir()
    (tmp_path / "10" / "cgroup").write_text(f"0::/kubepods/pod{UID}/{ID}")

    assert ProcFiles(str(tmp_path)).look([10]).cgroups == {10: Cgroup(UID, ID)}


def test_no_process_is_no_problem(tmp_path: Path) -> None:
    assert ProcFiles(str(tmp_path / "absent")).look([]).problem == ""


def test_what_may_not_be_read_is_counted_and_said(tmp_path: Path) -> None:
    files = proc(tmp_path, {"10": "0::/a", "11": "0::/b"})

    class Denied(ProcFiles):
        def _read(self, pid: int | str) -> str:
            if pid == 11:
                raise PermissionError
            return super()._read(pid)

    seen = Denied(str(tmp_path)).look([10, 11])

    assert files.look([10]).problem == ""
    assert list(seen.cgroups) == [10]
    assert seen.problem.startswith("1 processes are not attributed to pods")
