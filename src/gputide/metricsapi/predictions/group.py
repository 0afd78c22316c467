"""metrics.alibabacloud.com/v1beta1: predictionsobserver (a page) and predictions (numbers)."""

import asyncio
from base64 import b64encode
from collections.abc import Sequence

import msgspec

from gputide.charts import LANGUAGES, Language
from gputide.clock import Clock
from gputide.kubeapi.auth.ports import CacheBounds
from gputide.kubeapi.errors import StatusError, bad_request
from gputide.kubeapi.model import ComputedResource, JsonObject, ReadRequest
from gputide.metricsapi.external import timestamp
from gputide.metricsapi.ports import Forecasts
from gputide.metricsapi.predictions.page import observer_page
from gputide.metricsapi.predictions.wire import Detail, Summary
from gputide.metricsapi.questions import Questions

GROUP = "metrics.alibabacloud.com"
API_VERSION = f"{GROUP}/v1beta1"
OBSERVER = "predictionsobserver"
NUMBERS = "predictions"
KINDS = {OBSERVER: "PredictionsObserver", NUMBERS: "Prediction"}
_RESOURCES = tuple(
    ComputedResource(name=name, kind=kind, verbs=("get", "list"), singular=kind.lower())
    for name, kind in KINDS.items()
)


class Predictions:
    """A computed group: what autoscalers predict."""

    group = GROUP
    version = "v1beta1"

    def __init__(self, forecasts: Forecasts, clock: Clock, bounds: CacheBounds) -> None:
        self._forecasts = forecasts
        self.questions: Questions[str] = Questions(clock, bounds)

    def resources(self) -> Sequence[ComputedResource]:
        """Return the two resources."""
        return _RESOURCES

    async def read(self, request: ReadRequest) -> JsonObject:
        """Return one prediction, or the list; raise StatusError."""
        if request.resource not in KINDS or request.subresource:
            message = "the server could not find the requested resource"
            raise StatusError(404, "NotFound", message)
        form = request.query.get("format", ("",))[0]
        if form not in ("", "html", "json"):
            raise bad_request(f"format={form[:20]!r} is unknown: html or json")
        is_page = request.resource == OBSERVER and form != "json"
        if not request.name:
            return await self._list(request)
        detail = await self._forecasts.detail(request.namespace, request.name)
        if not is_page:
            return named(detail, request.resource) | {"prediction": msgspec.to_builtins(detail)}
        content = await self._page(detail, _language(request))
        return named(detail, request.resource) | {"content": content}

    async def _list(self, request: ReadRequest) -> JsonObject:
        """Return every autoscaler of a namespace; the list holds no pages, only the numbers."""
        found = [
            one
            for one in await self._forecasts.summaries()
            if request.namespace in ("", one.namespace)
        ]
        return {
            "kind": f"{KINDS[request.resource]}List",
            "apiVersion": API_VERSION,
            "metadata": {"resourceVersion": ""},
            "items": [
                named(one, request.resource) | {"prediction": msgspec.to_builtins(one)}
                for one in found
            ],
        }

    async def _page(self, detail: Detail, language: Language) -> str:
        """Return the page as base64; it is drawn in a thread, for others go on being answered."""
        key = (detail.namespace, detail.name, detail.issued_at, language)

        async def draw() -> str:
            html = await asyncio.to_thread(observer_page, detail, language)
            return b64encode(html.encode()).decode()

        return await self.questions.get(key, draw)


def named(summary: Summary, resource: str) -> JsonObject:
    """Return the head of an object."""
    metadata = {"name": summary.name, "namespace": summary.namespace}
    if summary.uid:
        metadata["uid"] = summary.uid
    metadata["creationTimestamp"] = timestamp(summary.issued_at)
    return {"kind": KINDS[resource], "apiVersion": API_VERSION, "metadata": metadata}


def _language(request: ReadRequest) -> Language:
    given = request.query.get("lang", ("en",))[0]
    for language in LANGUAGES:
        if given == language:
            return language
    raise bad_request(f"lang={given[:20]!r} is unknown: {', '.join(LANGUAGES)}")
