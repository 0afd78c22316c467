from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.storages import ALL, WIDGET, by_one_label, sized, taken, widget
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import WatchEvent
from gputide.kubeapi.ports import Storage
from gputide.kubeapi.storage import SqliteStorage


def reopened(path: Path) -> SqliteStorage:
    return SqliteStorage.open(path / "state.db", FakeClock(), select=by_one_label)


async def test_a_reopened_file_has_objects_revisions_and_the_log_of_events(tmp_path: Path) -> None:
    async with reopened(tmp_path) as store:
        made = await store.create(WIDGET, widget())
        grown = await store.update(WIDGET, "n", "a", sized(2))
    async with reopened(tmp_path) as store:
        assert await store.get(WIDGET, "n", "a") == grown
        events = store.watch(
            WIDGET, ALL, resource_version=made["metadata"]["resourceVersion"], has_bookmarks=False
        )
        assert await taken(events, 1) == [("MODIFIED", "a")]
        await events.aclose()
        again = await store.update(WIDGET, "n", "a", sized(3))

        assert int(again["metadata"]["resourceVersion"]) == 4
    with pytest.raises(StatusError, match="storage is closed"):
        await store.get(WIDGET, "n", "a")


async def test_it_is_what_the_server_asks_for(tmp_path: Path) -> None:
    async with reopened(tmp_path) as store:
        port: Storage = store
        made = await port.create(WIDGET, widget())
        events = port.watch(WIDGET, ALL, resource_version="0", has_bookmarks=False)
        first = await anext(aiter(events))

        assert first == WatchEvent(type=first.type, object=made)


async def test_names_are_made_up_anew_each_time(tmp_path: Path) -> None:
    async with reopened(tmp_path) as store:
        body = widget(generateName="job-")
        del body["metadata"]["name"]
        names = {(await store.create(WIDGET, body))["metadata"]["name"] for _ in range(20)}

        assert len(names) == 20
        assert all(name.startswith("job-") and len(name) == 9 for name in names)
