"""The real kubectl, as a function.

kubectl = Kubectl(kubeconfig, tmp_path)
print(kubectl("get", "pods"))                     # standard output; KubectlError on any exit but 0
kubectl("apply", "-f", "-", stdin=yaml)
kubectl.fails("apply", "-f", "-", stdin=wrong)    # what it complained of
with kubectl.running("get", "ahpa", "-w") as lines: ...
"""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import msgspec

KUBECTL = Path(sys.executable).with_name("kubectl")
TIMEOUT_SECONDS = 90


class KubectlError(Exception):
    """It ended with another code than 0."""


class Kubectl:
    """kubectl as one user, with a home of its own."""

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        self.kubeconfig = kubeconfig
        kube_home = home / f"home-{kubeconfig.stem}"
        kube_home.mkdir(exist_ok=True)
        self.environment = {
            **{k: v for k, v in os.environ.items() if not k.startswith("KUBE")},
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(kube_home),
            "PATH": f"{KUBECTL.parent}{os.pathsep}{os.environ['PATH']}",
        }

    def __call__(self, *arguments: str, stdin: str | None = None) -> str:
        """Return what it prints."""
        done = self._run(arguments, stdin)
        if done.returncode:
            raise KubectlError(f"kubectl {' '.join(arguments)}: {done.stderr or done.stdout}")
        return done.stdout

    def fails(self, *arguments: str, stdin: str | None = None) -> str:
        """Return what it complains of."""
        done = self._run(arguments, stdin)
        assert done.returncode, f"kubectl {' '.join(arguments)} should fail; {done.stdout}"
        return done.stderr + done.stdout

    def json(self, *arguments: str) -> Any:  # noqa: ANN401  any JSON
        """Return what it prints with `-o json`."""
        return msgspec.json.decode(self(*arguments, "-o", "json"))

    def shell(self, line: str, folder: Path) -> str:
        """Run a line of shell in a folder, with kubectl and its kubeconfig at hand."""
        done = subprocess.run(
            ["bash", "-o", "pipefail", "-c", line],
            cwd=folder,
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
        if done.returncode:
            raise KubectlError(f"{line}: {done.stderr or done.stdout}")
        return done.stdout

    @contextmanager
    def running(self, *arguments: str) -> Iterator[list[str]]:
        """Run it beside the block; the list grows by the lines that it prints."""
        lines: list[str] = []
        with subprocess.Popen(
            [KUBECTL, *arguments],
            env=self.environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        ) as process:
            assert process.stdout is not None
            reader = threading.Thread(target=lambda: lines.extend(process.stdout or ()))
            reader.start()
            try:
                yield lines
            finally:
                process.terminate()
                process.wait(TIMEOUT_SECONDS)
                reader.join(TIMEOUT_SECONDS)

    def _run(
        self, arguments: tuple[str, ...], stdin: str | None
    ) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            [KUBECTL, *arguments],
            env=self.environment,
            input=stdin or "",
            capture_output=True,
            text=True,
            check=False,
            timeout=TIMEOUT_SECONDS,
        )
