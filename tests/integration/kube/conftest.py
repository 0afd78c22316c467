"""Clients of servers on loopback."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from gputide.kube.settings import KubeSettings

Configure = Callable[[str], KubeSettings]


@pytest.fixture
def configured(tmp_path: Path) -> Configure:
    """Return what makes the settings of a server's address."""

    def make(url: str) -> KubeSettings:
        path = tmp_path / "kubeconfig"
        content = {
            "current-context": "test",
            "clusters": [{"name": "test", "cluster": {"server": url}}],
            "users": [{"name": "test", "user": {"token": "token-of-the-test"}}],
            "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        }
        path.write_text(json.dumps(content))
        return KubeSettings(kubeconfig=str(path), timeout_seconds=10)

    return make
