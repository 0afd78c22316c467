from fakes.storages import ALL, storage
from gputide.kubeapi.bootstrap import NAMESPACES, bootstrap
from gputide.kubeapi.kinds.core import NAMESPACE, SERVICE_ACCOUNT


async def test_every_cluster_has_its_namespaces_and_accounts_and_a_restart_changes_nothing() -> (
    None
):
    async with storage(requires_namespaces=True) as store:
        await bootstrap(store)
        first = await store.list(NAMESPACE, ALL)
        await bootstrap(store)
        accounts = await store.list(SERVICE_ACCOUNT, ALL)

        assert [one["metadata"]["name"] for one in first.items] == sorted(NAMESPACES)
        assert first.items[0]["status"] == {"phase": "Active"}
        assert {one["metadata"]["namespace"] for one in accounts.items} == set(NAMESPACES)
        assert await store.revision() == 1 + 2 * len(NAMESPACES)
