import asyncio

import pytest
from structlog.testing import capture_logs

from fakes.clock import FakeClock
from fakes.device_reader import FakeReader
from fakes.gpu_nodes import gpu
from gputide.clock import SystemClock
from gputide.errors import SettingError
from gputide.exporter.collect import Collector
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.http.server import Address
from gputide.exporter.nobody import Nobody
from gputide.exporter.render import Renderer
from gputide.exporter.run import Exporter, Serving, once, run

SERVING = Serving(address=Address("127.0.0.1", 0), interval_seconds=0.1)


def parts(clock: FakeClock | SystemClock) -> tuple[Exporter, Collector]:
    reader = FakeReader([gpu("Tesla T4")], clock.now_seconds)
    collector = Collector(
        reader,
        Nobody(clock),
        clock,
        node_name="n",
        settings=CollectionSettings(interval_seconds=0.1),
    )
    return Exporter(collector, Renderer(), clock, "1", SERVING), collector


async def test_once_prints_a_whole_page() -> None:
    exporter, collector = parts(SystemClock())

    page = await once(exporter, collector)

    assert b"DCGM_FI_DEV_POWER_USAGE{" in page
    assert b"gputide_exporter_build_info" in page


def test_an_exporter_without_a_page_says_that_it_is_ill() -> None:
    clock = FakeClock()
    exporter, collector = parts(clock)
    assert exporter.health().problem

    exporter.refresh()
    assert exporter.health().problem == ""
    clock.seconds += 60
    assert exporter.health().problem == "no page was made within 15 s"
    collector.close()


def test_a_bug_in_a_page_leaves_the_page_before(monkeypatch: pytest.MonkeyPatch) -> None:
    exporter, collector = parts(FakeClock())
    exporter.refresh()
    before = exporter.published

    def broken(_self: Renderer, _snapshot: object) -> None:
        raise RuntimeError("a bug")

    monkeypatch.setattr(Renderer, "render", broken)
    with capture_logs() as logs:
        exporter.refresh()

    assert exporter.published is before
    assert logs[0]["event"] == "rendering a page met a bug"
    errors = {
        dict(sample.labels)["kind"]: sample.value
        for family in exporter.own_families()
        if family.name == "gputide_exporter_errors_total"
        for sample in family.samples
    }
    assert errors["render"] == 1
    collector.close()


async def test_it_serves_until_cancelled_and_gives_the_port_back() -> None:
    exporter, collector = parts(SystemClock())
    with capture_logs() as logs:
        task = asyncio.create_task(run(exporter, collector, SystemClock(), SERVING))
        async with asyncio.timeout(10):
            while not (port := [line for line in logs if line["event"] == "serving"]):  # noqa: ASYNC110 the log is the only sign
                await asyncio.sleep(0.01)  # noqa: TID251 bounded, and real time is what passes
        address = Address("127.0.0.1", port[0]["port"])
        second, other = parts(SystemClock())
        with pytest.raises(SettingError, match="cannot listen"):
            await run(second, other, SystemClock(), Serving(address=address, interval_seconds=0.1))
        reader, writer = await asyncio.open_connection("127.0.0.1", address.port)
        writer.write(b"GET /health HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        answer = await reader.read()
        writer.close()
        task.cancel()
        await asyncio.wait({task})

    assert answer.startswith(b"HTTP/1.1 200")
    with pytest.raises(OSError, match="onnect"):
        await asyncio.open_connection("127.0.0.1", address.port)
