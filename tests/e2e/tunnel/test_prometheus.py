"""Every way in, from the programs that people run: gateway, agent, exporter, Prometheus.

The names of edge nodes resolve by the gateway's own hosts file, which stands in for /etc/hosts in a
mount namespace of that Prometheus.
"""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import httpx2
import pytest

from fakes.exporter_process import exporter_process
from fakes.programs import Program, Programs, wait_until
from fakes.prometheus_server import PrometheusServer, running_prometheus

NODE = "edge-gpu-001"
ENTRANCE = "127.0.0.2"
GPUTIDE = (sys.executable, "-m", "gputide")
CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: by-name
  static_configs: [{{targets: ["edge-gpu-001:{exporter}", "edge-gpu-009:{exporter}"]}}]
- job_name: by-proxy
  proxy_url: http://127.0.0.1:{proxy}
  static_configs: [{{targets: ["edge-gpu-001:{exporter}"]}}]
- job_name: discovered
  proxy_url: http://127.0.0.1:{proxy}
  http_sd_configs: [{{url: "http://127.0.0.1:{ops}/sd?port={exporter}", refresh_interval: 1s}}]
- job_name: not-allowed
  proxy_url: http://127.0.0.1:{proxy}
  metrics_path: /debug/pprof
  static_configs: [{{targets: ["edge-gpu-001:{exporter}"]}}]
- job_name: gateway
  static_configs: [{{targets: ["127.0.0.1:{ops}"]}}]
- job_name: agent
  static_configs: [{{targets: ["127.0.0.1:{agent}"]}}]
"""


def has_namespaces() -> bool:
    tried = subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False)
    return tried.returncode == 0


pytestmark = pytest.mark.skipif(
    not has_namespaces(), reason="needs a mount namespace of its own (root)"
)


@dataclass(frozen=True)
class Site:
    prometheus: PrometheusServer
    folder: Path
    gateway: Program
    ops: str

    def query(self, text: str) -> list[dict[str, str]]:
        """Return what an instant query finds: labels, and the value under `value`."""
        answer = httpx2.get(
            f"{self.prometheus.url}/api/v1/query", params={"query": text}, trust_env=False
        )
        found = answer.json()["data"]["result"]
        return [{**one["metric"], "value": one["value"][1]} for one in found]

    def is_up(self, job: str, instance: str) -> bool:
        found = self.query(f'up{{job="{job}", instance=~"{instance}.*"}}')
        return [one["value"] for one in found] == ["1"]


def ports(log: str) -> dict[str, int]:
    return {name: int(port) for name, port in re.findall(r"(\S+)=\S*?:(\d+)", log)}


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Site]:
    folder = tmp_path_factory.mktemp("tunnel")
    hosts = folder / "hosts"
    with (
        exporter_process("--simulate", "h100x8", "--simulate-load", "tide") as exporter,
        Programs(folder) as programs,
    ):
        gateway = programs.start(
            "gateway",
            [
                *(*GPUTIDE, "gateway", "--directory", folder / "gateway"),
                *("--server-name", "127.0.0.1", "--agents-address", "127.0.0.1:0"),
                *("--listen-host", ENTRANCE, "--http-port", str(exporter.port)),
                *("--tls-port", "10250=0", "--proxy-address", "127.0.0.1:0"),
                *("--ops-address", "127.0.0.1:0", "--hosts-file", hosts),
                *("--advertise-address", ENTRANCE),
            ],
        )
        wait_until("the gateway serves", lambda: "gateway serves" in gateway.log(), gateway)
        found = ports(gateway.log())
        directory = folder / "agent"
        joined = _run("gateway", "token", "create", "--nodes", "edge-gpu-*", "--site", "plant-7",
                      "--directory", folder / "gateway")  # fmt: skip
        _run(
            *("agent", "join", f"https://127.0.0.1:{found['agents']}", "--directory", directory),
            *("--node", f"{NODE}=127.0.0.1"),
            token=joined.split()[-1],
        )
        agent = programs.start(
            "agent",
            [
                *(*GPUTIDE, "agent", "--directory", directory),
                *("--allow", f"{exporter.port}:/metrics", "--metrics-address", "127.0.0.1:0"),
            ],
        )
        wait_until("the link is up", lambda: "gateway link up" in agent.log(), agent)
        wait_until("the name is published", lambda: NODE in _text(hosts), gateway)
        hosts.write_text(f"{hosts.read_text()}{ENTRANCE} edge-gpu-009\n")
        config = CONFIG.format(
            exporter=exporter.port,
            proxy=found["proxy"],
            ops=found["ops"],
            agent=ports(agent.log())["metrics"],
        )
        mount = f'mount --bind {hosts} /etc/hosts && exec "$@"'
        prefix = ["unshare", "--mount", "sh", "-c", mount, "sh"]
        with running_prometheus(folder, config=config, prefix=prefix) as prometheus:
            yield Site(prometheus, folder, gateway, f"http://127.0.0.1:{found['ops']}")


def _run(*arguments: str | Path, token: str = "") -> str:
    environment = {**os.environ, "GPUTIDE_AGENT_JOIN_TOKEN": token} if token else None
    command = [*GPUTIDE, *map(str, arguments)]
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def _text(path: Path) -> str:
    return path.read_text() if path.exists() else ""


@pytest.mark.parametrize("job", ["by-name", "by-proxy", "discovered"])
def test_every_way_in_leads_to_the_node(site: Site, job: str) -> None:
    wait_until("it is up", lambda: site.is_up(job, NODE))
    found = site.query(f'count by (instance) (DCGM_FI_DEV_GPU_UTIL{{job="{job}"}})')
    assert [one["value"] for one in found] == ["8"]


def test_discovered_nodes_carry_their_site(site: Site) -> None:
    wait_until("it is up", lambda: site.is_up("discovered", NODE))
    [found] = site.query('up{job="discovered"}')
    assert (found["node"], found["site"]) == (NODE, "plant-7")


def test_the_targets_page_says_why(site: Site) -> None:
    def reasons() -> dict[tuple[str, str], str]:
        answer = httpx2.get(f"{site.prometheus.url}/api/v1/targets", trust_env=False)
        targets = answer.json()["data"]["activeTargets"]
        return {
            (one["scrapePool"], one["labels"]["instance"].split(":")[0]): one["lastError"]
            for one in targets
        }

    wait_until("they were tried", lambda: all(reasons().get(key) for key in (
        ("not-allowed", NODE), ("by-name", "edge-gpu-009"))))  # fmt: skip
    found = reasons()
    assert "is not on the allow-list" in found["not-allowed", NODE]
    assert "no agent ever spoke for it here" in found["by-name", "edge-gpu-009"]


def test_gateway_and_agent_tell_of_themselves(site: Site) -> None:
    wait_until("all is scraped", lambda: site.is_up("gateway", "") and site.is_up("agent", ""))
    wait_until(
        "scrapes are counted",
        lambda: any(
            float(one["value"]) > 0
            for one in site.query('gputide_gateway_scrapes_total{outcome="ok"}')
        ),
    )
    text = httpx2.get(f"{site.ops}/metrics", trust_env=False).text
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=text, capture_output=True, text=True, check=False
    )
    assert (checked.returncode, checked.stderr) == (0, "")


def test_the_status_page_shows_the_node(site: Site) -> None:
    page = httpx2.get(f"{site.ops}/", trust_env=False).text
    assert f"<td>{NODE}</td><td>plant-7</td>" in page


def test_no_secret_stands_in_a_log(site: Site) -> None:
    token = _run(
        "gateway", "token", "create", "--nodes", "x", "--directory", site.folder / "gateway"
    )
    secret = token.split()[-1].split(".")[2]
    for path in site.folder.glob("*.log"):
        text = path.read_text()
        assert "PRIVATE KEY" not in text
        assert secret not in text
        assert "gpt1." not in text
