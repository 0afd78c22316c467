"""APIServices that are stored become group versions that a real server behind answers."""

import asyncio
import base64
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from fakes.behind import RESOURCES, Site, discovery, port_of
from fakes.clock import FakeClock
from fakes.http_server import Request, response
from fakes.storages import ALL, storage
from gputide.kubeapi.aggregation import Aggregator
from gputide.kubeapi.aggregation.run import SERVICE
from gputide.kubeapi.kinds.registration import API_SERVICE
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.registry import Registry
from gputide.kubeapi.storage import SqliteStorage


class PatientClock(FakeClock):
    """Sleeps until the test says that time goes on."""

    def __init__(self) -> None:
        super().__init__()
        self.goes_on = asyncio.Event()

    async def sleep(self, seconds: float) -> None:
        """Wait for the test."""
        await super().sleep(seconds)
        await self.goes_on.wait()
        self.goes_on.clear()


def api_service(site: Site, port: int, **spec: object) -> JsonObject:
    bundle = base64.b64encode(site.authority_pem.encode()).decode()
    base = {
        "group": "x.io",
        "version": "v1",
        "caBundle": bundle,
        "groupPriorityMinimum": 100,
        "versionPriority": 100,
        "service": {"namespace": "n", "name": "s", "port": port},
    }
    return {
        "apiVersion": "apiregistration.k8s.io/v1",
        "kind": "APIService",
        "metadata": {"name": "v1.x.io"},
        "spec": base | spec,
    }


def external_service() -> JsonObject:
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": {"name": "s", "namespace": "n"},
        "spec": {"type": "ExternalName", "externalName": "localhost"},
    }


@asynccontextmanager
async def aggregating(
    store: SqliteStorage, site: Site, clock: FakeClock
) -> AsyncIterator[Registry]:
    registry = Registry()
    aggregator = Aggregator(store, registry, clock, site.proxy)
    task = asyncio.create_task(aggregator.run())
    try:
        yield registry
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def condition(store: SqliteStorage, reason: str) -> JsonObject:
    """Wait until the APIService says so."""
    events = store.watch(API_SERVICE, ALL, resource_version="0", has_bookmarks=False)
    async with asyncio.timeout(10):
        async for event in events:
            for one in (event.object.get("status") or {}).get("conditions") or []:
                if one["reason"] == reason:
                    await events.aclose()
                    return dict(one)
    raise AssertionError(reason)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    return Site(tmp_path)


async def test_an_api_service_is_proxied_once_its_service_answers(site: Site) -> None:
    clock = PatientClock()
    async with (
        storage() as store,
        site.served() as server,
        aggregating(store, site, clock) as registry,
    ):
        await store.create(API_SERVICE, api_service(site, port_of(server)))
        missing = await condition(store, "ServiceNotFound")
        assert missing["status"] == "False"
        assert missing["message"] == 'service/s in "n" is not present'
        found = registry.find("x.io", "v1")
        assert found is not None
        assert found.proxied is not None
        assert found.proxied.resource_list() is None

        await store.create(SERVICE, external_service())
        clock.goes_on.set()
        passed = await condition(store, "Passed")
        assert passed["status"] == "True"
        assert found.proxied.resource_list() == RESOURCES

        await store.delete(API_SERVICE, "", "v1.x.io")
        async with asyncio.timeout(10):
            while registry.find("x.io", "v1") is not None:
                await store.revision()


async def test_a_server_that_fails_is_told_asked_again_and_taken_back(site: Site) -> None:
    answers = [discovery, lambda _: response(b"", "500 Internal Server Error"), discovery]

    def answer(request: Request) -> bytes:
        return answers.pop(0)(request)

    clock = PatientClock()
    async with storage() as store, site.served(answer) as server, aggregating(store, site, clock):
        await store.create(SERVICE, external_service())
        await store.create(API_SERVICE, api_service(site, port_of(server)))
        await condition(store, "Passed")
        clock.goes_on.set()
        failed = await condition(store, "FailedDiscoveryCheck")
        assert "bad status: 500" in failed["message"]
        clock.goes_on.set()
        await condition(store, "Passed")

        assert clock.slept[:2] == [30, 30]


async def test_a_changed_api_service_is_taken_up_anew(site: Site) -> None:
    clock = PatientClock()
    async with storage() as store, site.served() as server, aggregating(store, site, clock):
        await store.create(SERVICE, external_service())
        other = api_service(site, port_of(server), caBundle="", insecureSkipTLSVerify=False)
        await store.create(API_SERVICE, other)
        await condition(store, "FailedDiscoveryCheck")
        right = api_service(site, port_of(server))["spec"]
        await store.update(API_SERVICE, "", "v1.x.io", lambda obj: obj | {"spec": right})
        await condition(store, "Passed")

        broken = right | {"caBundle": "bm9uZQ=="}
        await store.update(API_SERVICE, "", "v1.x.io", lambda obj: obj | {"spec": broken})
        await condition(store, "InvalidCABundle")
