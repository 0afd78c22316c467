"""An outage seen from Prometheus: the samples of that time are there afterwards, at their times."""

from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise
from pathlib import Path

import httpx2

from fakes.exporter_page import CountingExporter
from fakes.prometheus_server import running_prometheus
from fakes.relay import relay
from fakes.tunnel import Cloud, running_agent, start_gateway, until
from gputide.clock import SystemClock
from gputide.tunnel.agent.offline.spool import Spool
from gputide.tunnel.agent.site import Allowance
from gputide.tunnel.gateway.backfill.receive import BackfillReceiver
from gputide.tunnel.protocol import Limits

INTERVAL_SECONDS = 1
QUICK = Limits(ping_seconds=1, lost_seconds=3)
CONFIG = """\
global: {{scrape_interval: {interval}s, scrape_timeout: 1s}}
storage: {{tsdb: {{out_of_order_time_window: 1h}}}}
scrape_configs:
- job_name: gpu
  proxy_url: http://127.0.0.1:{proxy}
  static_configs: [{{targets: ["edge-gpu-001:{port}"], labels: {{site: s1}}}}]
"""


async def test_after_a_cut_prometheus_has_no_gap(tmp_path: Path) -> None:
    clock = SystemClock()
    cloud = Cloud(tmp_path / "cloud", clock)
    async with CountingExporter.running() as exporter:
        # Prometheus must know the proxy, and the gateway Prometheus: it gets its receiver later
        gateway = start_gateway(cloud, accepts_backfill=True, limits=QUICK)
        config = CONFIG.format(
            interval=INTERVAL_SECONDS, proxy=gateway.entrances["proxy"], port=exporter.port
        )
        with (
            running_prometheus(
                tmp_path, config=config, arguments=["--web.enable-remote-write-receiver"]
            ) as prometheus,
            ThreadPoolExecutor(1) as executor,
        ):
            receiver = BackfillReceiver(prometheus.url, clock, executor)
            gateway.gateway.streams["backfill"] = receiver.receive
            async with relay(("127.0.0.1", gateway.url.port)) as line:
                far = gateway.behind(line.port)
                with Spool(tmp_path / "spool.db", max_bytes=10_000_000) as spool:
                    async with (
                        receiver,
                        running_agent(
                            cloud,
                            tmp_path / "agent",
                            far,
                            nodes={"edge-gpu-001": "127.0.0.1"},
                            allowances=(Allowance(port=exporter.port, paths=("/metrics",)),),
                            spool=spool,
                            limits=QUICK,
                        ) as agent,
                    ):
                        keeper = agent.keeper
                        assert keeper is not None
                        await until(lambda: exporter.pages >= 5, seconds=30)
                        line.cut()
                        await until(lambda: spool.page_count >= 8, seconds=30)
                        line.mend()
                        served = gateway.gateway.service.scrapes
                        before = served["ok"]
                        await until(
                            lambda: served["ok"] >= before + 4 and not spool.page_count,
                            seconds=40,
                        )
                        assert keeper.delivered_pages >= 8
                        times = await _sample_times(prometheus.url, exporter.port)
        await gateway.stop()

    gaps = [late - early for early, late in pairwise(times)]
    assert max(gaps) <= INTERVAL_SECONDS * 1.6, gaps
    assert len(times) >= 15


async def _sample_times(url: str, port: int) -> list[float]:
    """Return the times of all samples of the exporter's counter, one series whatever its source."""
    async with httpx2.AsyncClient(trust_env=False) as client:
        answer = await client.get(
            f"{url}/api/v1/query", params={"query": "pages_served_total[10m]"}
        )
    [series] = answer.json()["data"]["result"]
    assert series["metric"] == {
        "__name__": "pages_served_total",
        "instance": f"edge-gpu-001:{port}",
        "job": "gpu",
        "site": "s1",
        "gpu": "0",
    }
    return [float(at) for at, _ in series["values"]]
