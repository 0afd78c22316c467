"""The built-in kinds that kubectl and our samples need, as data."""

from gputide.kubeapi.kinds import core, pods, policies, registration, workloads
from gputide.kubeapi.kinds.services import Addresses, service_kind
from gputide.kubeapi.model import Kind

__all__ = ["Addresses", "builtin_kinds"]


def builtin_kinds(addresses: Addresses) -> tuple[Kind, ...]:
    """Return every built-in kind; services take their cluster addresses from `addresses`."""
    return (
        *core.KINDS,
        pods.POD,
        service_kind(addresses),
        *workloads.KINDS,
        *policies.KINDS,
        *registration.KINDS,
    )
