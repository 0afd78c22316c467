"""`gputide autoscaler`: the controller of AdvancedHorizontalPodAutoscalers."""

import asyncio
import socket
from dataclasses import replace
from secrets import token_hex
from typing import TYPE_CHECKING, Annotated

from cyclopts import Group, Parameter

from gputide.autoscaler.settings import AutoscalerSettings
from gputide.cli.logs import configure_logs
from gputide.cli.process import run_until_stopped
from gputide.clock import SystemClock
from gputide.errors import SettingError
from gputide.prometheus.settings import PrometheusSettings

if TYPE_CHECKING:
    from gputide.kube.client import KubeClient
    from gputide.kube.lease import Election
    from gputide.kube.membership import Membership

CONTROLLER = Group("Controller", sort_key=1)
PROMETHEUS = Group(
    "Prometheus, instead of ConfigMap kube-system/application-intelligence", sort_key=2
)
LEASE = "gputide-autoscaler"
SHARED = "shards"
"""Holder of the Lease on behalf of all that share the autoscalers."""
MAX_PORT = 65_535
LEASE_TIMEOUT_SECONDS = 4.0


def autoscaler(
    settings: Annotated[
        AutoscalerSettings, Parameter(name="*", group=CONTROLLER)
    ] = AutoscalerSettings(),
    *,
    prometheus: Annotated[PrometheusSettings | None, Parameter(name="*", group=PROMETHEUS)] = None,
) -> None:
    """Scale workloads ahead of their load, as their AdvancedHorizontalPodAutoscalers ask."""
    from gputide.autoscaler.run import read_token

    configure_logs(settings.log_format)
    read_token(settings.token_file)  # a bad file is told before anything starts
    asyncio.run(run_until_stopped(_run(settings, prometheus)))


async def _run(settings: AutoscalerSettings, prometheus: PrometheusSettings | None) -> None:
    from gputide.autoscaler.run import new_controller, run
    from gputide.kube.client import KubeClient
    from gputide.kube.settings import KubeSettings

    clock = SystemClock()
    identity = f"{socket.gethostname()}_{token_hex(6)}"  # two pods on a node may share its name
    kube = KubeSettings(kubeconfig=settings.kubeconfig, context=settings.context)
    # leases have connections of their own, and give up in time to try again before they run out
    hasty = replace(kube, timeout_seconds=LEASE_TIMEOUT_SECONDS)
    async with KubeClient(kube) as client, KubeClient(hasty) as leases:
        listening = _bind(settings.listen_address)
        controller = new_controller(
            client,
            clock,
            settings,
            prometheus=prometheus,
            election=_election(settings, leases, clock, identity),
            membership=_membership(settings, leases, clock, identity),
        )
        await run(controller, listening)


def _election(
    settings: AutoscalerSettings, client: "KubeClient", clock: SystemClock, identity: str
) -> "Election | None":
    from gputide.kube.lease import Election, LeaseTerms

    if not settings.leader_elect:
        return None
    # replicas with shards hold the lease together: against those of a version without
    terms = LeaseTerms(
        namespace=settings.lease_namespace,
        name=LEASE,
        identity=SHARED if settings.shards else identity,
        is_shared=settings.shards,
    )
    return Election(client, terms, clock)


def _membership(
    settings: AutoscalerSettings, client: "KubeClient", clock: SystemClock, identity: str
) -> "Membership | None":
    from gputide.kube.membership import Membership, MembershipTerms

    if not settings.shards:
        return None
    terms = MembershipTerms(namespace=settings.lease_namespace, group=LEASE, identity=identity)
    return Membership(client, terms, clock)


def _bind(address: str) -> socket.socket:
    from gputide.kubeapi.serve import listening

    host, _, port = address.rpartition(":")
    if not port.isdecimal() or int(port) > MAX_PORT:
        raise SettingError("listen-address", f"{address!r} is no HOST:PORT")
    return listening(host.strip("[]") or "0.0.0.0", int(port))  # noqa: S104  it was asked for
