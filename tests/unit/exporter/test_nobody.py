from fakes.clock import FakeClock
from gputide.exporter.model import AllocateMode
from gputide.exporter.nobody import Nobody


async def test_without_kubernetes_nobody_holds_anything_and_nothing_is_wrong() -> None:
    found = await Nobody(FakeClock(5)).ownership((), ())

    assert (found.mode, found.allocations, found.problems) == (AllocateMode.NONE, (), ())
    assert found.at_seconds == 5
