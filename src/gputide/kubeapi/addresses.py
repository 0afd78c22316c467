"""Keeps the cluster addresses in step with the services that are stored."""

from gputide.clock import Clock
from gputide.kubeapi.follow import follow
from gputide.kubeapi.kinds.services import Addresses
from gputide.kubeapi.model import EventType, Kind, Selection, WatchEvent
from gputide.kubeapi.ports import Storage

SERVICE = Kind(group="", version="v1", kind="Service", plural="services")


async def load_addresses(storage: Storage, addresses: Addresses) -> None:
    """Take the addresses of all stored services; before the server answers."""
    for service in (await storage.list(SERVICE, Selection())).items:
        addresses.hold(service)


async def follow_addresses(storage: Storage, addresses: Addresses, clock: Clock) -> None:
    """Take and release addresses as services come and go, until cancelled."""

    async def take(event: WatchEvent) -> None:
        if event.type is EventType.DELETED:
            addresses.release(event.object)
        else:
            addresses.hold(event.object)

    await follow(storage, SERVICE, clock, take)
