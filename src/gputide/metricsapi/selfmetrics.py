"""What the server knows of itself: requests counted on the way, and a page for Prometheus."""

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterable

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from gputide.clock import Clock
from gputide.exposition import Family, Format, Sample, render
from gputide.exposition.rows import Rows, families
from gputide.metricsapi import catalog

BUCKETS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
OTHER = "other"
GROUPS = frozenset({"custom.metrics.k8s.io", "external.metrics.k8s.io", "metrics.alibabacloud.com"})


class Counted:
    """An application whose requests are counted: by API group and code, and how long they took."""

    def __init__(self, app: ASGIApp, clock: Clock) -> None:
        self._app = app
        self._clock = clock
        self.codes: Counter[tuple[str, int]] = Counter()
        self._buckets: dict[str, list[int]] = {}
        self._sums: dict[str, float] = {}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        code = 499  # the client went away before there was an answer

        async def noting(message: Message) -> None:
            nonlocal code
            if message["type"] == "http.response.start":
                code = message["status"]
            await send(message)

        group, started = group_of(scope["path"]), self._clock.monotonic_seconds()
        try:
            await self._app(scope, receive, noting)
        finally:
            self.codes[group, code] += 1
            self._note(group, self._clock.monotonic_seconds() - started)

    def families(self) -> tuple[Family, ...]:
        """Return the counts and the histogram."""
        requests = [
            Sample(catalog.REQUESTS.name, (("group", group), ("code", str(code))), float(count))
            for (group, code), count in sorted(self.codes.items())
        ]
        times = [sample for group in sorted(self._buckets) for sample in self._histogram(group)]
        rows = ((catalog.REQUESTS, requests), (catalog.SECONDS, times))
        return tuple(
            Family(row.name, row.kind, row.help, tuple(samples)) for row, samples in rows if samples
        )

    def _note(self, group: str, seconds: float) -> None:
        buckets = self._buckets.setdefault(group, [0] * (len(BUCKETS) + 1))
        buckets[bisect_left(BUCKETS, seconds)] += 1
        self._sums[group] = self._sums.get(group, 0.0) + seconds

    def _histogram(self, group: str) -> Iterable[Sample]:
        name, total = catalog.SECONDS.name, 0
        for bound, count in zip((*BUCKETS, float("inf")), self._buckets[group], strict=True):
            total += count
            le = "+Inf" if bound == float("inf") else f"{bound:g}"
            yield Sample(f"{name}_bucket", (("group", group), ("le", le)), float(total))
        yield Sample(f"{name}_sum", (("group", group),), self._sums[group])
        yield Sample(f"{name}_count", (("group", group),), float(total))


class SelfMetrics:
    """A plain page: /metrics, and /healthz beside it."""

    def __init__(self, counted: Counted, rows: Callable[[], Rows]) -> None:
        self._counted = counted
        self._rows = rows

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            return
        is_read = scope["method"] in ("GET", "HEAD")
        code, kind, body = 404, "text/plain", b"not found\n"
        if is_read and scope["path"] == "/metrics":
            code, kind, body = 200, str(Format.TEXT), self.page()
        elif is_read and scope["path"] == "/healthz":
            code, body = 200, b"ok"
        headers = [(b"content-type", kind.encode()), (b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": code, "headers": headers})
        await send(
            {"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else body}
        )

    def page(self) -> bytes:
        """Return the page in Prometheus' text format."""
        return render((*self._counted.families(), *families(self._rows())))


def group_of(path: str) -> str:
    """Return the API group of a path, from a closed list: a stranger cannot make series."""
    parts = path.split("/", 3)
    group = parts[2] if len(parts) > 2 and parts[1] == "apis" else OTHER
    return group if group in GROUPS else OTHER
