import asyncio

from fakes.clock import FakeClock
from fakes.storages import storage
from gputide.kubeapi.addresses import SERVICE, follow_addresses, load_addresses
from gputide.kubeapi.kinds.services import Addresses


def service(name: str, address: str) -> dict:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": name, "namespace": "n"},
        "spec": {"clusterIP": address, "clusterIPs": [address]},
    }


async def test_addresses_are_taken_and_released_with_their_services() -> None:
    other = service("other", "")
    addresses = Addresses()
    async with storage() as store:
        await store.create(SERVICE, service("a", "10.96.0.9"))
        await load_addresses(store, addresses)
        assert not addresses.is_free_for("10.96.0.9", other)

        following = asyncio.create_task(follow_addresses(store, addresses, FakeClock()))
        async with asyncio.timeout(10):
            await store.create(SERVICE, service("b", "10.96.0.10"))
            while addresses.is_free_for("10.96.0.10", other):
                await store.revision()
            await store.delete(SERVICE, "n", "a")
            while not addresses.is_free_for("10.96.0.9", other):
                await store.revision()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)
