"""The layout tells the architecture: sizes, mirrors and words that no review has to check."""

import ast
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
SOURCE = ROOT / "src/gputide"
MODULES = sorted(SOURCE.rglob("*.py"))
MAX_LINES = 300

# Modules without a test file of their own, each with the reason.
TESTED_ELSEWHERE = {
    "__main__.py": "one call of cli.main",
    "autoscaler/catalog.py": "names as data, printed in the tests of api",
    "autoscaler/cluster/caches.py": "run whole against API servers in e2e/kubernetes",
    "autoscaler/cluster/scales.py": "run whole against an API server in integration/autoscaler",
    "autoscaler/cluster/writer.py": "run whole against an API server in integration/autoscaler",
    "autoscaler/crd/notes.py": "data of the definition, whose tests read every line of it",
    "autoscaler/deciding.py": "seen through the engine, whose tests cover it",
    "autoscaler/demand/catalog.py": "queries as data, asked in the tests of demand/prometheus",
    "autoscaler/demand/model.py": "value objects without invariants of their own",
    "autoscaler/demand/ports.py": "protocols",
    "autoscaler/metrics.py": "printed whole in the tests of api",
    "autoscaler/model.py": "value objects without invariants of their own",
    "autoscaler/ports.py": "protocols",
    "autoscaler/rows.py": "seen through the engine, whose tests cover it",
    "autoscaler/run.py": "run whole against API servers in e2e/kubernetes",
    "autoscaler/saved.py": "seen through the engine, whose tests cover it",
    "autoscaler/telling.py": "seen through control, whose tests cover it",
    "autoscaler/wire.py": "printed whole in the tests of api and predict",
    "backtest/model.py": "value objects without invariants of their own",
    "backtest/ports.py": "a protocol",
    "cli/cluster.py": "flags as data; each command that takes them uses them in its tests",
    "clock.py": "a port and its three-line real adapter",
    "errors.py": "each error is tested where it is raised",
    "exporter/model.py": "value objects without invariants of their own",
    "exporter/ports.py": "protocols, and errors that are tested where they are raised",
    "kube/apply.py": "seen through the command, in its integration test",
    "kubeapi/auth/ports.py": "protocols, and value objects without invariants of their own",
    "kubeapi/errors.py": "each error is tested where it is raised",
    "kubeapi/model.py": "value objects without invariants of their own",
    "kubeapi/ports.py": "protocols",
    "kubeapi/storage/model.py": "value objects; Held.as_kind is tested with the rows",
    "metricsapi/asking.py": "seen through a real Prometheus, in the rules' integration test",
    "metricsapi/catalog.py": "names as data, seen on the page that selfmetrics makes",
    "metricsapi/ports.py": "protocols, and value objects without invariants of their own",
    "metricsapi/prometheus.py": "counts what it passes on; the rules' integration test sees it",
    "tunnel/agent/credentials.py": "files that joining writes, in the tests of join",
    "tunnel/agent/dialer.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/agent/fetch.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/agent/handler.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/agent/offline/keeper.py": "run whole in integration/tunnel/test_backfill.py",
    "tunnel/agent/renewal.py": "a call that integration/tunnel/agent/test_renewal.py makes",
    "tunnel/agent/run.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/agent/selfmetrics.py": "scraped in e2e/tunnel",
    "tunnel/agent/serving.py": "run as a process in e2e/tunnel",
    "tunnel/carrier.py": "run whole in integration/tunnel/gateway/test_door.py",
    "tunnel/catalog.py": "names as data, scraped in e2e/tunnel",
    "tunnel/exchange.py": "seen through a link alone, whose tests cover it",
    "tunnel/gateway/backfill/receive.py": "run whole in integration/tunnel/test_backfill.py",
    "tunnel/gateway/desk.py": "run whole in integration/tunnel/agent/test_join.py",
    "tunnel/gateway/discovery.py": "asked by Prometheus in e2e/tunnel",
    "tunnel/gateway/entrance/ports.py": "protocols",
    "tunnel/gateway/handler.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/gateway/ops.py": "asked by Prometheus in e2e/tunnel",
    "tunnel/gateway/publish.py": "run whole in e2e/tunnel",
    "tunnel/gateway/run.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/gateway/scrape.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/gateway/selfmetrics.py": "scraped and checked by promtool in e2e/tunnel",
    "tunnel/gateway/server_files.py": "run as a process in e2e/tunnel",
    "tunnel/gateway/service.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/gateway/serving.py": "run as a process in e2e/tunnel",
    "tunnel/gateway/status.py": "read in e2e/tunnel",
    "tunnel/joining.py": "messages that integration/tunnel/agent/test_join.py exchanges",
    "tunnel/pipe.py": "run whole in integration/tunnel/test_run.py",
    "tunnel/ports.py": "protocols",
    "tunnel/protocol/events.py": "value objects without invariants of their own",
    "tunnel/protocol/liveness.py": "seen through the session alone, whose tests cover it",
    "tunnel/protocol/model.py": "value objects, checked where they are used",
    "tunnel/protocol/outbox.py": "seen through the session alone, whose tests cover it",
    "tunnel/protocol/stream.py": "seen through the session alone, whose tests cover it",
    "tunnel/protocol/streams.py": "seen through the session alone, whose tests cover it",
    "tunnel/protocol/wire.py": "seen through the session alone, whose tests cover it",
    "tunnel/tls.py": "run whole in integration/tunnel/gateway/test_door.py",
    "tunnel/web.py": "run as a process in e2e/tunnel",
}


def relative(path: Path) -> str:
    return str(path.relative_to(SOURCE))


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_stays_short_enough_to_read(path: Path) -> None:
    assert len(path.read_text().splitlines()) <= MAX_LINES


@pytest.mark.parametrize("path", MODULES, ids=relative)
def test_a_module_and_each_public_thing_in_it_says_what_it_is(path: Path) -> None:
    tree = ast.parse(path.read_text())
    named = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    public = [n for n in tree.body if isinstance(n, named) and not n.name.startswith("_")]

    assert ast.get_docstring(tree)
    assert [n.name for n in public if not ast.get_docstring(n)] == []


def test_each_module_has_a_test_file_at_the_mirrored_place() -> None:
    tests = {path.relative_to(ROOT / "tests") for path in (ROOT / "tests").rglob("test_*.py")}
    mirrors = {Path(*path.parts[1:]) for path in tests}
    missing = [
        relative(path)
        for path in MODULES
        if path.name != "__init__.py"
        and relative(path) not in TESTED_ELSEWHERE
        and path.relative_to(SOURCE).with_name(f"test_{path.name.lstrip('_')}") not in mirrors
    ]

    assert missing == []


@pytest.mark.parametrize("word", ["utils", "common", "manager", "helpers", "misc"])
def test_no_module_has_a_name_that_says_nothing(word: str) -> None:
    assert [relative(p) for p in MODULES if word in (*p.relative_to(SOURCE).parts, p.stem)] == []


def test_requirements_are_pinned_with_hashes_and_name_no_registry() -> None:
    files = sorted((ROOT / "requirements").glob("*.txt"))
    assert [f.name for f in files] == ["bench.txt", "run.txt", "test.txt"]
    for file in files:
        text = file.read_text()
        pins = re.findall(r"^[a-z0-9._-]+==", text, flags=re.MULTILINE | re.IGNORECASE)
        assert pins
        assert text.count("--hash=sha256:") >= len(pins)
        assert "://" not in text
