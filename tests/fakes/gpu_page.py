"""An exporter's page that a test writes, and a real Prometheus that reads it every second.

with gpu_page() as page, running_prometheus(folder, config=page.scrape_config) as prometheus:
    page.percent = {("default", "web-0"): 42.0}     # GPU utilization by namespace and pod
    page.is_down = True                             # the scrape fails: samples grow old
    page.text = "# any other page\n"
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SCRAPE_CONFIG = """\
global: {{scrape_interval: 1s, scrape_timeout: 1s}}
scrape_configs:
  - job_name: gpus
    honor_labels: true
    static_configs: [{{targets: ["127.0.0.1:{port}"]}}]
"""


class GpuPage:
    """What is on the page now."""

    def __init__(self, port: int) -> None:
        self.scrape_config = SCRAPE_CONFIG.format(port=port)
        self.percent: dict[tuple[str, str], float] = {}
        self.text = ""
        self.is_down = False

    def render(self) -> str:
        """Return the page in Prometheus' text format."""
        lines = ["# TYPE DCGM_FI_DEV_GPU_UTIL gauge"]
        for number, ((namespace, pod), percent) in enumerate(sorted(self.percent.items())):
            labels = f'gpu="{number}",UUID="GPU-{number}",namespace="{namespace}",pod="{pod}"'
            lines.append(f"DCGM_FI_DEV_GPU_UTIL{{{labels}}} {percent}")
        return "\n".join([*lines, self.text, ""])


@contextmanager
def gpu_page() -> Iterator[GpuPage]:
    """Serve one on loopback while the block runs."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            body = page.render().encode()
            self.send_response(500 if page.is_down else 200)
            self.send_header("Content-Type", "text/plain; version=0.0.4")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    page = GpuPage(server.server_port)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield page
    finally:
        server.shutdown()
        server.server_close()
        thread.join(10)
