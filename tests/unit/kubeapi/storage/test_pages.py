import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from fakes.storages import ALL, WIDGET, sized, storage, widget
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Page, Selection
from gputide.kubeapi.storage import SqliteStorage
from gputide.kubeapi.storage.model import Bounds

names = st.sampled_from("abcdefgh")
writes = st.lists(st.tuples(names, st.integers(0, 3)), max_size=12)


def labels(page: Page) -> list[tuple[str, int]]:
    return [(one["metadata"]["name"], one["spec"]["size"]) for one in page.items]


async def write(store: SqliteStorage, name: str, size: int) -> None:
    """Create, resize, or with size 0 delete."""
    is_there = any(name == one for one, _ in labels(await store.list(WIDGET, ALL)))
    if is_there and not size:
        await store.delete(WIDGET, "n", name)
    elif is_there:
        await store.update(WIDGET, "n", name, sized(size))
    elif size:
        await store.create(WIDGET, widget(name) | {"spec": {"size": size}})


async def test_a_list_is_in_order_of_namespace_and_name_and_may_be_narrowed() -> None:
    async with storage() as store:
        for namespace, name in (("n", "b"), ("m", "c"), ("n", "a")):
            await store.create(WIDGET, widget(name, namespace, labels={"is": name}))

        everything = await store.list(WIDGET, ALL)
        assert [one["metadata"]["name"] for one in everything.items] == ["c", "a", "b"]
        assert everything.resource_version == "4"
        assert labels(await store.list(WIDGET, Selection(namespace="m"))) == [("c", 1)]
        assert labels(await store.list(WIDGET, Selection(label_selector="is=b"))) == [("b", 1)]


@settings(deadline=None, max_examples=40)
@given(before=writes, between=st.lists(writes, max_size=5), limit=st.integers(1, 3))
async def test_pages_show_one_revision_whatever_is_written_between_them(
    before: list, between: list, limit: int
) -> None:
    async with storage() as store:
        for name, size in before:
            await write(store, name, size)
        whole = await store.list(WIDGET, ALL)
        page = await store.list(WIDGET, ALL, limit=limit)
        found = labels(page)
        pending = list(between)
        while page.continue_token:
            assert page.remaining_count == len(whole.items) - len(found)
            for name, size in pending.pop() if pending else ():
                await write(store, name, size)
            page = await store.list(WIDGET, ALL, limit=limit, continue_token=page.continue_token)
            assert page.resource_version == whole.resource_version
            found += labels(page)

        assert found == labels(whole)


async def test_pages_of_a_selection_do_not_say_how_many_remain() -> None:
    async with storage() as store:
        for name in "abc":
            await store.create(WIDGET, widget(name, labels={"is": "x"}))
        page = await store.list(WIDGET, Selection(label_selector="is=x"), limit=2)

        assert (len(page.items), page.remaining_count) == (2, None)
        assert page.continue_token


async def test_a_token_that_the_log_has_forgotten_is_expired() -> None:
    async with storage(Bounds(max_events=10)) as store:
        for name in "abc":
            await store.create(WIDGET, widget(name))
        page = await store.list(WIDGET, ALL, limit=1)
        for size in range(2, 40):
            await store.update(WIDGET, "n", "a", sized(size))
        with pytest.raises(StatusError, match="too old to display") as expired:
            await store.list(WIDGET, ALL, limit=1, continue_token=page.continue_token)

        assert (expired.value.code, expired.value.reason) == (410, "Expired")


@pytest.mark.parametrize("token", ["x", "AAAA", "eyJhIjoxfQ", "é"])
async def test_a_broken_token_is_a_bad_request(token: str) -> None:
    async with storage() as store:
        with pytest.raises(StatusError, match="continue key is not valid") as caught:
            await store.list(WIDGET, ALL, limit=1, continue_token=token)

        assert caught.value.code == 400
