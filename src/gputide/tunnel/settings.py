"""What a person sets for gateway and agent."""

from dataclasses import dataclass
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from pathlib import Path
from typing import Annotated, Literal

from cyclopts import Parameter

from gputide.durations import parse_span
from gputide.errors import SettingError
from gputide.tunnel.gateway.names import check_addresses
from gputide.tunnel.model import parse_port

LogFormat = Literal["text", "json"]
MIN_LIFETIME_SECONDS = 600.0
GATEWAY_DIRECTORY = Path("/var/lib/gputide/gateway")
AGENT_DIRECTORY = Path("/var/lib/gputide/agent")


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class GatewaySettings:
    """Where a gateway keeps its authority, where it listens, and whom it serves."""

    directory: Path = GATEWAY_DIRECTORY
    """Authority, join tokens and revocations; shared by all gateways, mode 0700."""

    name: str = ""
    """Name of this gateway, for people; the host's name if not given."""

    server_name: tuple[str, ...] = ()
    """Names and addresses by which agents reach this gateway; they stand in its certificate."""

    agents_address: str = ":8443"
    """Where agents connect: HOST:PORT. The only port that has to be public."""

    gateway_url: tuple[str, ...] = ()
    """Addresses of all gateways, which agents are told: https://HOST:PORT."""

    listen_host: str = ""
    """Address of this machine for the exporters' ports; all if not given."""

    http_port: tuple[str, ...] = ("9400", "9445", "9100")
    """Exporters' ports to stand for, by the name in Host; PORT, or PORT=LOCAL_PORT."""

    tls_port: tuple[str, ...] = ("10250",)
    """The same for TLS, by the server name in the client's hello; never opened here."""

    proxy_address: str = "127.0.0.1:8480"
    """HTTP proxy (`proxy_url` in Prometheus): HOST:PORT; empty for none."""

    ops_address: str = "127.0.0.1:8481"
    """Metrics, service discovery and the status page: HOST:PORT; empty for none."""

    hosts_file: Path | None = None
    """Write node names here as a hosts file, for CoreDNS' `hosts` plugin or dnsmasq."""

    names_in_cluster: bool = False
    """Write node names to ConfigMap kube-system/edge-tunnel-nodes, the cluster's own nodes too."""

    advertise_address: tuple[str, ...] = ()
    """Addresses that edge nodes' names resolve to: those of all gateways, or of their Service."""

    prometheus_url: str = ""
    """Prometheus that gets what agents kept while cut off (remote_write receiver and
    out-of-order window switched on); empty: agents keep it."""

    backfill_honor_labels: bool = False
    """As `honor_labels` of the scrape job: the pages' own labels win over the target's."""

    kubeconfig: str = ""
    """For --names-in-cluster; the pod's service account if not given."""

    allow_client: tuple[str, ...] = ("127.0.0.0/8", "::1/128")
    """Networks whose machines may ask for nodes; nobody else is served."""

    certificate_lifetime: str = "24h"
    """How long agents' certificates last; they renew themselves at two thirds."""

    log_format: LogFormat = "text"
    """The log on standard error: a line an event, as logfmt or JSON."""

    def __post_init__(self) -> None:
        if self.lifetime_seconds < MIN_LIFETIME_SECONDS:
            raise SettingError("certificate-lifetime", "must be at least 10m")
        has_names = self.hosts_file is not None or self.names_in_cluster
        if has_names and not self.advertise_address:
            raise SettingError("advertise-address", "name the addresses that names resolve to")
        check_addresses(self.advertise_address, setting="advertise-address")
        _ = self.client_networks, self.http_ports, self.tls_ports

    @property
    def lifetime_seconds(self) -> float:
        """Of agents' certificates."""
        return parse_span(self.certificate_lifetime, setting="certificate-lifetime")

    @property
    def client_networks(self) -> "ClientNetworks":
        """Who may ask."""
        return ClientNetworks.parse(self.allow_client)

    @property
    def http_ports(self) -> dict[int, int]:
        """Exporters' port -> local port, for HTTP."""
        return dict(_pair(text, "http-port") for text in self.http_port)

    @property
    def tls_ports(self) -> dict[int, int]:
        """Exporters' port -> local port, for TLS."""
        return dict(_pair(text, "tls-port") for text in self.tls_port)


def _pair(text: str, setting: str) -> tuple[int, int]:
    port, separator, local = text.partition("=")
    if separator and local == "0":  # any free port, which the log names
        return parse_port(port, setting=setting), 0
    return parse_port(port, setting=setting), parse_port(local or port, setting=setting)


@dataclass(frozen=True, slots=True)
class ClientNetworks:
    """Networks of clients."""

    networks: tuple[IPv4Network | IPv6Network, ...]

    @classmethod
    def parse(cls, texts: tuple[str, ...]) -> "ClientNetworks":
        """Return the networks, or raise SettingError."""
        try:
            return cls(tuple(ip_network(text.strip()) for text in texts))
        except ValueError as error:
            raise SettingError("allow-client", f"{error}; a network is 10.0.0.0/8") from error

    def holds(self, client: str) -> bool:
        """Whether an address is within any of them."""
        try:
            address = ip_address(client.partition("%")[0])
        except ValueError:
            return False
        mapped = getattr(address, "ipv4_mapped", None)
        return any((mapped or address) in network for network in self.networks)


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """What an agent keeps, whom it dials, and what it may be asked for."""

    directory: Path = AGENT_DIRECTORY
    """Key, certificate and spool; mode 0700."""

    gateway: tuple[str, ...] = ()
    """Gateways to dial: https://HOST:PORT; those of joining if not given."""

    site_file: Annotated[Path | None, Parameter()] = None
    """YAML with the site's nodes and its allow-list, instead of --node and --allow."""

    node: tuple[str, ...] = ()
    """Nodes to speak for: NAME=ADDRESS, or NAME; those of joining if not given."""

    allow: tuple[str, ...] = ("9400:/metrics", "9445:/metrics", "9100:/metrics")
    """What may be asked for: PORT:/PATH[,/PATH] for pages, PORT alone for any bytes."""

    spool_mebibytes: int = 512
    """Disk for pages of times without a gateway; the oldest go beyond it. 0: keep none."""

    spool_hours: float = 6.0
    """How long a target that nobody asks for is fetched into the spool."""

    metrics_address: str = "127.0.0.1:9401"
    """The agent's own metrics: HOST:PORT; empty for none."""

    log_format: LogFormat = "text"
    """The log on standard error: a line an event, as logfmt or JSON."""
