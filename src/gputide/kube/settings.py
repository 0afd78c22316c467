"""Which API server, as whom, and how hard."""

from dataclasses import dataclass

from gputide.errors import SettingError


@dataclass(frozen=True, slots=True, kw_only=True)
class KubeSettings:
    """How to reach the API server."""

    kubeconfig: str = ""
    """Path of a kubeconfig; empty: $KUBECONFIG, the pod's service account, ~/.kube/config."""

    context: str = ""
    """Context of the kubeconfig; empty: its current one."""

    timeout_seconds: float = 15.0
    """For one request, asking again included."""

    max_concurrency: int = 16
    """Requests under way at a time."""

    def __post_init__(self) -> None:
        if self.timeout_seconds <= 0:
            raise SettingError("kube-timeout", "must be above 0")
        if self.max_concurrency < 1:
            raise SettingError("kube-max-concurrency", "must be at least 1")
