"""The published names, asked of a real DNS server: dnsmasq, in a network namespace of its own."""

import subprocess
from pathlib import Path

import pytest

from gputide.tunnel.gateway.names import HostsFile

SCRIPT = """
set -eu
ip link set lo up
ip address add 10.0.3.1/32 dev lo  # with loopback alone getent asks for nothing
mount --bind resolv.conf /etc/resolv.conf
mount --bind nsswitch.conf /etc/nsswitch.conf
dnsmasq --no-daemon --no-resolv --no-hosts --addn-hosts=hosts --pid-file= --user=root \
  --port=53 --listen-address=127.0.0.1 --bind-interfaces > dnsmasq.log 2>&1 &
trap "kill $!" EXIT
for _ in $(seq 100); do grep -q "read .*hosts" dnsmasq.log && break; sleep 0.05; done
for name in edge-gpu-001 edge-gpu-002 cloud-gpu-001 edge-gpu-009; do
  echo "$name $(getent ahostsv4 $name | awk '$2 == "STREAM" {print $1}' | sort | xargs)"
done
"""


def may_unshare() -> bool:
    command = ["unshare", "--net", "--mount", "true"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


@pytest.mark.skipif(not may_unshare(), reason="needs namespaces of its own (root)")
def test_edge_nodes_resolve_to_the_gateways_and_others_to_themselves(tmp_path: Path) -> None:
    HostsFile(tmp_path / "hosts").write(
        {
            "edge-gpu-001": ("10.0.3.7", "10.0.3.8"),
            "edge-gpu-002": ("10.0.3.7", "10.0.3.8"),
            "cloud-gpu-001": ("10.9.9.9",),
        }
    )
    (tmp_path / "resolv.conf").write_text("nameserver 127.0.0.1\n")
    (tmp_path / "nsswitch.conf").write_text("hosts: dns\n")

    done = subprocess.run(
        ["unshare", "--net", "--mount", "sh", "-c", SCRIPT],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )

    assert done.stdout.splitlines() == [
        "edge-gpu-001 10.0.3.7 10.0.3.8",
        "edge-gpu-002 10.0.3.7 10.0.3.8",
        "cloud-gpu-001 10.9.9.9",
        "edge-gpu-009 ",
    ], (done.stderr, (tmp_path / "dnsmasq.log").read_text())
