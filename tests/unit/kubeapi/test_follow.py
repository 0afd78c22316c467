import asyncio

from fakes.clock import FakeClock
from fakes.storages import WIDGET, storage, widget
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.follow import RETRY_SECONDS, follow
from gputide.kubeapi.model import WatchEvent


async def test_it_starts_over_with_every_object_when_taking_one_failed() -> None:
    seen: list[str] = []
    is_done = asyncio.Event()

    async def take(event: WatchEvent) -> None:
        seen.append(f"{event.type} {event.object['metadata']['name']}")
        if len(seen) == 2:
            raise StatusError(429, "TooManyRequests", "wait")
        if len(seen) == 5:
            is_done.set()

    clock = FakeClock()
    async with storage() as store:
        for name in "ab":
            await store.create(WIDGET, widget(name))
        following = asyncio.create_task(follow(store, WIDGET, clock, take))
        async with asyncio.timeout(10):
            while len(seen) < 4:
                await store.revision()
            await store.delete(WIDGET, "n", "a")
            await is_done.wait()
        following.cancel()
        await asyncio.gather(following, return_exceptions=True)

    assert seen == ["ADDED a", "ADDED b", "ADDED a", "ADDED b", "DELETED a"]
    assert clock.slept == [RETRY_SECONDS]
