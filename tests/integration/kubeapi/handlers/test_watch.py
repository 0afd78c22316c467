import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fakes.api_servers import BOXES, MERGE, TABLE, Api, api_server
from gputide.kubeapi.handlers.context import Limits
from gputide.kubeapi.server import Options

Events = AsyncIterator[dict[str, Any]]


@asynccontextmanager
async def watching(api: Api, query: str, accept: str = "application/json") -> AsyncIterator[Events]:
    request = api.client.stream("GET", f"{BOXES}?watch=true&{query}", headers={"accept": accept})
    async with request as response:
        assert response.status_code == 200
        yield (json.loads(line) async for line in response.aiter_lines())


def told(event: dict[str, Any]) -> tuple[str, str]:
    return event["type"], event["object"]["metadata"].get("name", "")


async def test_a_watch_tells_what_is_there_and_what_happens() -> None:
    async with api_server() as api:
        await api.put_box("a")
        async with watching(api, "") as events:
            assert told(await anext(events)) == ("ADDED", "a")
            await api.put_box("b")
            assert told(await anext(events)) == ("ADDED", "b")
            await api.ask("PATCH", f"{BOXES}/b", {"spec": {"size": 2}}, headers=MERGE)
            assert told(await anext(events)) == ("MODIFIED", "b")
            await api.ask("DELETE", f"{BOXES}/a")
            assert told(await anext(events)) == ("DELETED", "a")


async def test_a_watch_goes_on_from_a_version() -> None:
    async with api_server() as api:
        version = (await api.put_box("a"))["metadata"]["resourceVersion"]
        await api.put_box("b")
        async with watching(api, f"resourceVersion={version}") as events:
            assert told(await anext(events)) == ("ADDED", "b")


async def test_a_watch_of_one_object_tells_of_no_other() -> None:
    async with api_server() as api:
        await api.put_box("a")
        await api.put_box("b")
        async with watching(api, "fieldSelector=metadata.name%3Db") as events:
            assert told(await anext(events)) == ("ADDED", "b")


async def test_kubectl_watches_tables_whose_columns_come_once() -> None:
    async with api_server() as api:
        await api.put_box("a", size=3)
        async with watching(api, "", TABLE) as events:
            first = (await anext(events))["object"]
            await api.put_box("b")
            second = (await anext(events))["object"]
        assert first["rows"][0]["cells"] == ["a", 3, "a", "0s"]
        assert (len(first["columnDefinitions"]), second["columnDefinitions"]) == (4, [])


async def test_the_end_of_the_initial_events_is_marked_for_whoever_asks() -> None:
    query = "sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true"
    async with api_server() as api:
        await api.put_box("a")
        async with watching(api, query) as events:
            assert told(await anext(events)) == ("ADDED", "a")
            mark = await anext(events)
        assert mark["type"] == "BOOKMARK"
        assert mark["object"]["metadata"]["annotations"] == {"k8s.io/initial-events-end": "true"}


async def test_nothing_that_is_there_is_told_where_nobody_wants_it() -> None:
    async with api_server() as api:
        await api.put_box("a")
        async with watching(api, "sendInitialEvents=false&allowWatchBookmarks=true") as events:
            await api.put_box("b")
            assert told(await anext(events)) == ("ADDED", "b")


async def test_a_version_that_is_gone_is_an_event_that_says_410() -> None:
    async with api_server() as api:
        version = (await api.put_box("a"))["metadata"]["resourceVersion"]
        await api.put_box("b")
        await api.storage.compact()
        async with watching(api, f"resourceVersion={version}") as events:
            event = await anext(events)
            assert (event["type"], event["object"]["code"]) == ("ERROR", 410)
            assert await anext(events, None) is None


async def test_a_bad_selector_is_refused_before_anything_is_sent() -> None:
    async with api_server() as api:
        await api.ask("GET", f"{BOXES}?watch=true&labelSelector=a%3Db%3Dc", code=400)


async def test_a_watch_ends_after_its_time() -> None:
    async with api_server() as api, watching(api, "timeoutSeconds=0.05") as events:
        assert await anext(events, None) is None


async def test_a_watch_ends_when_the_server_stops() -> None:
    async with api_server() as api, watching(api, "") as events:
        api.stop.set()
        async with asyncio.timeout(5):
            assert await anext(events, None) is None


async def test_watches_beyond_the_bound_are_refused_and_make_room_when_they_end() -> None:
    options = Options(limits=Limits(max_watches=1))
    async with api_server(options=options) as api:
        await api.put_box("a")
        async with watching(api, "") as events:
            await anext(events)
            await api.ask("GET", f"{BOXES}?watch=true", code=429)
        async with asyncio.timeout(5):
            while (await api.client.get(f"{BOXES}?watch=1&timeoutSeconds=0.01")).status_code == 429:
                pass
