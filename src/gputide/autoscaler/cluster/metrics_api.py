"""External and Pods metrics by Kubernetes' metrics APIs, for those that no query is set for."""

from urllib.parse import quote, urlencode

import msgspec

from gputide.autoscaler.demand.model import Answer, ApiSource
from gputide.autoscaler.model import DemandState
from gputide.errors import SettingError
from gputide.kube.client import KubeClient
from gputide.kube.errors import KubeError, NotFoundError, UnreachableError
from gputide.scaling.quantity import parse_quantity

MAX_ITEMS = 10_000


class _Object(msgspec.Struct, frozen=True):
    name: str = ""


class _Item(msgspec.Struct, frozen=True, rename="camel"):
    value: str | float
    described_object: _Object = _Object()


class _List(msgspec.Struct, frozen=True):
    items: list[_Item] = []


class KubeMetrics:
    """Asks the aggregated API servers, as an HPA does."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    async def read(self, source: ApiSource, *, now_seconds: float) -> Answer:
        """Return the sum of what the API lists, or why there is none; never raises."""
        try:
            body = await self._client.raw(path_of(source))
            items = items_of(body, source.name)
        except (KubeError, SettingError) as error:
            return _failed(error, now_seconds)
        if source.is_external and not items:
            return _none(now_seconds, DemandState.EMPTY, f"no value of {source.name}")
        if source.is_external:
            total = sum(value for _, value in items)
            return Answer(at_seconds=now_seconds, value=total, series_count=len(items))
        pods = {(source.namespace, name): value for name, value in items}
        return Answer(at_seconds=now_seconds, pods=pods, series_count=len(items))


def path_of(source: ApiSource) -> str:
    """Return the path that an HPA would ask."""
    namespace, name = quote(source.namespace, safe=""), quote(source.name, safe="")
    if source.is_external:
        path = f"/apis/external.metrics.k8s.io/v1beta1/namespaces/{namespace}/{name}"
        parameters = {"labelSelector": source.label_selector}
    else:
        path = f"/apis/custom.metrics.k8s.io/v1beta2/namespaces/{namespace}/pods/*/{name}"
        parameters = {"metricLabelSelector": source.label_selector}
    given = {key: value for key, value in parameters.items() if value}
    return f"{path}?{urlencode(given)}" if given else path


def items_of(body: bytes, name: str) -> list[tuple[str, float]]:
    """Return pod ("" for an external metric) and value of each item; SettingError for no list."""
    try:
        found = msgspec.json.decode(body, type=_List)
    except msgspec.MsgspecError as error:
        raise SettingError(name, f"the metrics API answers with no list: {error}") from error
    if len(found.items) > MAX_ITEMS:
        raise SettingError(name, f"the metrics API lists more than {MAX_ITEMS} values")
    return [
        (item.described_object.name, parse_quantity(item.value, setting=name))
        for item in found.items
    ]


def _failed(error: KubeError | SettingError, now_seconds: float) -> Answer:
    if isinstance(error, NotFoundError):
        return _none(now_seconds, DemandState.EMPTY, error.problem)
    is_down = isinstance(error, UnreachableError)
    state = DemandState.SOURCE_DOWN if is_down else DemandState.SOURCE_REFUSED
    return _none(now_seconds, state, str(error))


def _none(now_seconds: float, state: DemandState, text: str) -> Answer:
    return Answer(at_seconds=now_seconds, state=state, text=text)
