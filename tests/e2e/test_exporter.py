"""The exporter as a node runs it: a real process, a real Prometheus, TLS and users between them."""

import json
import re
import subprocess
import sys
import time
import urllib.request
from pathlib import Path

import bcrypt
import pytest
import trustme

from fakes.exporter_process import exporter_process
from fakes.prometheus_server import running_prometheus
from gputide.exposition import parse

TIMEOUT_SECONDS = 60

# What promtool says of DCGM's own names; they are printed as they are.
DCGM_LINT = re.compile(
    r"(DCGM_\w+) (label names should be written in 'snake_case' not 'camelCase'"
    r'|counter metrics should have "_total" suffix'
    r"|metric name should not include type 'counter')"
)


def gputide(*arguments: str) -> "subprocess.CompletedProcess[str]":
    return subprocess.run(
        [sys.executable, "-m", "gputide", *arguments],
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )


def test_once_prints_a_page_that_promtool_takes_but_for_dcgms_own_names() -> None:
    page = gputide("exporter", "--once", "--simulate", "h100x2")
    assert page.returncode == 0

    done = subprocess.run(
        ["promtool", "check", "metrics"],
        input=page.stdout,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_SECONDS,
        check=False,
    )

    lints = (done.stdout + done.stderr).splitlines()
    assert [lint for lint in lints if not DCGM_LINT.fullmatch(lint)] == []
    names = {family.name for family in parse(page.stdout.encode())}
    assert {"DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_PROF_GR_ENGINE_ACTIVE"} <= names


def test_a_node_without_a_driver_prints_a_page_that_says_so() -> None:
    done = gputide("exporter", "--once")

    assert done.returncode == 0
    assert "gputide_exporter_" in done.stdout
    assert "DCGM_FI_DEV_GPU_UTIL{" not in done.stdout


def test_a_counters_file_with_a_mistake_is_refused_by_its_line(tmp_path: Path) -> None:
    path = tmp_path / "counters.csv"
    path.write_text("# mine\nDCGM_FI_DEV_GPU_TEMP, gauge\n")

    done = gputide("exporter", "--once", "--simulate", "t4", "--collectors", str(path))

    assert done.returncode == 2
    assert f"{path}, line 2, column 3: is missing" in done.stderr.splitlines()[-1]


def test_a_port_in_use_is_one_line_and_exit_code_2() -> None:
    with exporter_process("--simulate", "t4") as first:
        done = gputide("exporter", "--simulate", "t4", "--address", f"127.0.0.1:{first.port}")

        assert done.returncode == 2
        assert done.stderr.count("\n") == 1
        assert f"cannot listen on 127.0.0.1:{first.port}" in done.stderr
        assert first.stop() == 0


def test_a_lost_gpu_is_named_and_the_others_stay(tmp_path: Path) -> None:
    faults = tmp_path / "faults.json"
    faults.write_text(json.dumps({"1": {"lost": True}}))
    arguments = ("--simulate", "t4x2", "--faults", str(faults), "--collect-interval", "200")
    with exporter_process(*arguments) as exporter:
        url = f"http://127.0.0.1:{exporter.port}/metrics"
        with urllib.request.urlopen(url, timeout=10) as answer:
            page = answer.read()

    up = {
        dict(sample.labels)["gpu"]: sample.value
        for family in parse(page)
        if family.name == "gputide_exporter_device_up"
        for sample in family.samples
    }
    assert up == {"0": 1, "1": 0}
    assert b'DCGM_FI_DEV_GPU_TEMP{gpu="0"' in page


def test_gpus_shows_the_node_as_tables_and_as_json() -> None:
    table = gputide("gpus", "--simulate", "t4x2")
    told = gputide("gpus", "--simulate", "t4x2", "--json")

    assert table.returncode == told.returncode == 0
    assert table.stdout.count("Tesla T4") == 2
    assert len(json.loads(told.stdout)["devices"]) == 2


@pytest.fixture
def web_files(tmp_path: Path) -> Path:
    authority = trustme.CA()
    certificate = authority.issue_cert("127.0.0.1")
    certificate.private_key_pem.write_to_path(tmp_path / "a.key")
    for pem in certificate.cert_chain_pems:
        pem.write_to_path(tmp_path / "a.crt", append=True)
    authority.cert_pem.write_to_path(tmp_path / "ca.crt")
    digest = bcrypt.hashpw(b"right", bcrypt.gensalt(rounds=4)).decode()
    (tmp_path / "web.yml").write_text(
        "tls_server_config: {cert_file: a.crt, key_file: a.key}\n"
        f"basic_auth_users: {{prom: {digest}}}\n"
    )
    (tmp_path / "password").write_text("right")
    return tmp_path


def test_a_real_prometheus_scrapes_it_over_tls_as_a_known_user(web_files: Path) -> None:
    arguments = ("--simulate", "t4", "--web-config-file", str(web_files / "web.yml"))
    with exporter_process(*arguments) as exporter:
        config = f"""
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
- job_name: gpus
  scheme: https
  tls_config: {{ca_file: {web_files}/ca.crt}}
  basic_auth: {{username: prom, password_file: {web_files}/password}}
  static_configs: [{{targets: ["127.0.0.1:{exporter.port}"]}}]
"""
        with running_prometheus(web_files, config=config) as prometheus:
            [series] = eventually(prometheus.url, "DCGM_FI_DEV_GPU_UTIL")
            [counter] = eventually(prometheus.url, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION")
            [up] = eventually(prometheus.url, "up")

    assert up["value"][1] == "1"
    assert series["metric"]["modelName"] == "Tesla T4"
    # Prometheus asks for OpenMetrics; the counter keeps DCGM's name, and the pod its label.
    assert counter["metric"]["__name__"] == "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION"
    assert "exported_pod" in series["metric"] or "pod" in series["metric"]


def eventually(url: str, query: str) -> list[dict[str, dict[str, str]]]:
    """Ask until there is an answer: Prometheus scrapes in its own time."""
    end = time.monotonic() + TIMEOUT_SECONDS
    while time.monotonic() < end:
        with urllib.request.urlopen(f"{url}/api/v1/query?query={query}", timeout=10) as answer:
            found: list[dict[str, dict[str, str]]] = json.load(answer)["data"]["result"]
        if found and found[0]["value"][1] != "0":
            return found
        time.sleep(0.2)
    raise AssertionError(f"{query} did not come within {TIMEOUT_SECONDS} s")
