"""The server's settings; prometheus-adapter's flags under their own names where they make sense."""

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gputide.errors import SettingError

LogFormat = Literal["text", "json"]
SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
_PART = re.compile(r"(\d+(?:\.\d+)?)(ms|[smh])")
_SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0}


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class ServingSettings:
    """Where to serve, with which certificate, and who is believed."""

    bind_address: str = "0.0.0.0"  # noqa: S104 an API server is there for others; TLS and RBAC guard it
    """Address of this machine to serve on."""

    secure_port: int = 6443
    """TCP port of the API, HTTPS alone."""

    tls_cert_file: Path | None = None
    """PEM file of the serving certificate, its chain after it; made at the start if not given."""

    tls_private_key_file: Path | None = None
    """PEM file of its key."""

    cert_dir: Path = Path("apiserver.local.config/certificates")
    """Where a certificate that is made is kept: tls.crt, tls.key and ca.crt, the APIService's
    caBundle."""

    tls_name: tuple[str, ...] = ("gputide-metricsapi.gputide-system.svc", "localhost", "127.0.0.1")
    """Names and addresses in a certificate that is made: SERVICE.NAMESPACE.svc first."""

    client_ca_file: Path | None = None
    """PEM file of the authority of client certificates; the cluster's ConfigMap says it else."""

    requestheader_client_ca_file: Path | None = None
    """PEM file of the front proxy's authority; the cluster's ConfigMap says it else."""

    requestheader_allowed_names: tuple[str, ...] = ()
    """Common names that the front proxy may have; any if none is given."""

    requestheader_username_headers: tuple[str, ...] = ("x-remote-user",)
    """Headers with the user's name."""

    requestheader_group_headers: tuple[str, ...] = ("x-remote-group",)
    """Headers with the user's groups."""

    requestheader_extra_headers_prefix: tuple[str, ...] = ("x-remote-extra-",)
    """Beginnings of headers with more about the user."""

    authentication_skip_lookup: Annotated[bool, Parameter(negative="")] = False
    """Do not read the cluster's ConfigMap extension-apiserver-authentication."""

    authorization: Literal["cluster", "none"] = "cluster"
    """Who says what is allowed: the cluster (SubjectAccessReview), or nobody: all is allowed."""

    kubeconfig: Annotated[
        str,
        Parameter(
            name=[
                "--kubeconfig",
                "--lister-kubeconfig",
                "--authentication-kubeconfig",
                "--authorization-kubeconfig",
            ]
        ),
    ] = ""
    """How to reach the cluster; the pod's service account if not given."""

    without_cluster: Annotated[bool, Parameter(negative="")] = False
    """Ask no cluster: external metrics and predictions alone; needs --authorization=none."""

    metrics_address: str = ":9405"
    """Where the server's own metrics are, over plain HTTP: HOST:PORT; empty for none."""

    log_format: LogFormat = "text"
    """The log on standard error: a line an event, as logfmt or JSON."""

    def __post_init__(self) -> None:
        if (self.tls_cert_file is None) != (self.tls_private_key_file is None):
            missing = "private-key-file" if self.tls_private_key_file is None else "cert-file"
            raise SettingError(f"tls-{missing}", "missing: a certificate needs its key")
        if not self.tls_name:
            raise SettingError("tls-name", "name what clients call this server")
        if not 0 <= self.secure_port <= 65535:
            raise SettingError("secure-port", "must be 0 to 65535")
        if self.without_cluster and self.authorization != "none":
            raise SettingError("without-cluster", "nobody can authorize: --authorization=none")
        if self.metrics_address:
            _ = self.metrics_host_and_port

    @property
    def metrics_host_and_port(self) -> tuple[str, int]:
        """Of the metrics' plain address."""
        host, _, port = self.metrics_address.rpartition(":")
        if not port.isdigit() or int(port) > 65535:
            raise SettingError("metrics-address", f"{self.metrics_address!r} is not HOST:PORT")
        return host.strip("[]"), int(port)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class MetricsSettings:
    """Which rules, which forecasts, and whom to ask for what we do not know."""

    config: Path | None = None
    """Rules, in prometheus-adapter's format; taken up again when the file changes. `default`: the
    rules for GPUs that come along."""

    metrics_relist_interval: str = "10m"
    """How often series are looked up for discovery; values are asked for when they are wanted."""

    metrics_max_age: str = "0s"
    """How old the newest sample of a listed series may be; 0s: the relist interval."""

    metrics_cache: str = "1s"
    """How long an answer counts: many clients that ask the same cost one query."""

    prometheus_auth_incluster: Annotated[bool, Parameter(negative="")] = False
    """Show Prometheus the pod's service account: its token, and the cluster's CA."""

    forecast_url: tuple[str, ...] = ()
    """Addresses of the autoscaler's forecasts; several where it runs in shards."""

    forecast_token_file: Path | None = None
    """File with the bearer token for them."""

    forecast_ca_file: Path | None = None
    """PEM file of their authority."""

    forecast_cert_file: Path | None = None
    """PEM file of our own certificate for them."""

    forecast_key_file: Path | None = None
    """PEM file of its key."""

    forecast_max_age: str = "3m"
    """An older forecast has no value as an external metric: 404."""

    forward_url: str = ""
    """A second server of external metrics, such as KEDA's, asked for what is unknown here."""

    forward_token_file: Path | None = None
    """File with the bearer token for it."""

    forward_ca_file: Path | None = None
    """PEM file of its authority."""

    forward_cert_file: Path | None = None
    """PEM file of our own certificate for it."""

    forward_key_file: Path | None = None
    """PEM file of its key."""

    forward_insecure_skip_verify: Annotated[bool, Parameter(negative="")] = False
    """Talk to whoever answers there. Anyone on the way can read and forge."""

    def __post_init__(self) -> None:
        if not 0 < self.relist_seconds <= 86_400:
            raise SettingError("metrics-relist-interval", "must be above 0 and at most a day")
        if self.max_age_seconds < self.relist_seconds:
            raise SettingError("metrics-max-age", "must not be below the relist interval")
        if not 0 <= self.cache_seconds <= 60:
            raise SettingError("metrics-cache", "must be at most 1m")
        if self.forecast_max_age_seconds <= 0:
            raise SettingError("forecast-max-age", "must be above 0")

    @property
    def relist_seconds(self) -> float:
        """Between two looks at the series."""
        return seconds(self.metrics_relist_interval, "metrics-relist-interval")

    @property
    def max_age_seconds(self) -> float:
        """Of a series' newest sample."""
        return seconds(self.metrics_max_age, "metrics-max-age") or self.relist_seconds

    @property
    def cache_seconds(self) -> float:
        """How long an answer counts."""
        return seconds(self.metrics_cache, "metrics-cache")

    @property
    def forecast_max_age_seconds(self) -> float:
        """Of a forecast that is an external metric."""
        return seconds(self.forecast_max_age, "forecast-max-age")


def seconds(text: str, setting: str) -> float:
    """Return the seconds of a span as Go writes it; raise SettingError.

    >>> seconds("1m30s", "x"), seconds("0", "x")
    (90.0, 0.0)
    """
    if text.strip() == "0":
        return 0.0
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text.strip():
        raise SettingError(setting, f"{text!r} is no span of time, such as 30s, 10m or 1h30m")
    return float(sum(float(number) * _SECONDS[unit] for number, unit in parts))
