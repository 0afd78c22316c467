"""The parts that settings ask for: adapters, each with the work that goes on beside the server."""

from collections.abc import Callable, Coroutine
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from typing import Any

from gputide.clock import Clock
from gputide.errors import SettingError
from gputide.kube.client import KubeClient
from gputide.kube.settings import KubeSettings
from gputide.kubeapi.auth.ports import CacheBounds, FrontProxyTrust
from gputide.kubeapi.server import always_ready
from gputide.metricsapi.api import MetricsApi, Sources
from gputide.metricsapi.forecasts import HttpForecasts
from gputide.metricsapi.forward import FORWARDED, Forwarding
from gputide.metricsapi.objects import KubeObjects
from gputide.metricsapi.peers import Peer, PeerSettings
from gputide.metricsapi.ports import ExternalSource
from gputide.metricsapi.predictions.metrics import ForecastMetrics
from gputide.metricsapi.quantity import quantity
from gputide.metricsapi.ruled import Ruled, ruled
from gputide.metricsapi.settings import SERVICE_ACCOUNT, MetricsSettings, ServingSettings
from gputide.metricsapi.trust import NOBODY, Access, ClusterTrust, TrustFiles, access
from gputide.prometheus.settings import PrometheusSettings

Work = Callable[[], Coroutine[Any, Any, None]]
MAX_ANSWERS = 4096
DEADLINE_SECONDS = 20.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """All that a person asked for."""

    serving: ServingSettings
    metrics: MetricsSettings
    prometheus: PrometheusSettings | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """The server, what runs beside it, and what its own metrics look at."""

    api: MetricsApi
    access: Access
    forecasts: HttpForecasts
    works: tuple[Work, ...]
    ruled: Ruled | None = None
    forwarding: Forwarding | None = None


async def build(asked: Asked, clock: Clock, stack: AsyncExitStack) -> Built:
    """Return the parts; the stack closes their connections. Raise SettingError or InputError."""
    settings, works = asked.metrics, list[Work]()
    client = None
    if not asked.serving.without_cluster:
        kube = KubeClient(KubeSettings(kubeconfig=asked.serving.kubeconfig), clock=clock)
        client = await stack.enter_async_context(kube)
    bounds = CacheBounds(
        seconds=settings.cache_seconds,
        max_answers=MAX_ANSWERS,
        deadline_seconds=DEADLINE_SECONDS,
    )
    forecasts = HttpForecasts([Peer(one, clock) for one in shards(settings)], clock, bounds)
    stack.push_async_callback(forecasts.close)
    rules = await _rules(asked, clock, stack)
    forwarding = _forwarding(settings, clock, stack)
    trust, may_serve = _trust(asked.serving, client, clock, works)
    works += [] if rules is None else rules.works
    works += [] if forwarding is None else [forwarding.run]
    told = access(trust, client, clock, allows_all=asked.serving.authorization == "none")
    api = MetricsApi(
        Sources(
            forecasts=forecasts,
            external=_external(settings, forecasts, rules, forwarding, clock),
            custom=None if rules is None else rules.custom,
            objects=None if client is None else KubeObjects(client, clock, bounds),
            explainer=None if rules is None else rules.explainer,
        ),
        authenticator=told.authenticator,
        authorizer=told.authorizer,
        clock=clock,
        bounds=bounds,
        ready=may_serve,
    )
    return Built(
        api=api,
        access=told,
        forecasts=forecasts,
        works=tuple(works),
        ruled=rules,
        forwarding=forwarding,
    )


def shards(settings: MetricsSettings) -> list[PeerSettings]:
    """Return where the autoscalers' forecasts are."""
    return [
        PeerSettings(
            flag="forecast",
            url=url,
            bearer_token_file=settings.forecast_token_file,
            ca_file=settings.forecast_ca_file,
            cert_file=settings.forecast_cert_file,
            key_file=settings.forecast_key_file,
        )
        for url in settings.forecast_url
    ]


def prometheus_settings(asked: Asked) -> PrometheusSettings | None:
    """Return how Prometheus is asked; the pod's service account where that is wanted."""
    if not asked.metrics.prometheus_auth_incluster:
        return asked.prometheus
    flag = "prometheus-auth-incluster"
    if asked.prometheus is None:
        raise SettingError(flag, "needs a prometheus-url")
    if asked.prometheus.bearer_token_file or asked.prometheus.bearer_token:
        raise SettingError(flag, "cannot go together with another token")
    ca_file = asked.prometheus.ca_file or SERVICE_ACCOUNT / "ca.crt"
    is_tls = asked.prometheus.base_url.startswith("https")
    return replace(
        asked.prometheus,
        bearer_token_file=SERVICE_ACCOUNT / "token",
        ca_file=ca_file if is_tls else None,
    )


async def _rules(asked: Asked, clock: Clock, stack: AsyncExitStack) -> Ruled | None:
    server = prometheus_settings(asked)
    if asked.metrics.config is None:
        return None
    if server is None:
        raise SettingError("config", "rules need a prometheus-url")
    return await ruled(asked.metrics.config, asked.metrics, server, clock, stack)


def _forwarding(
    settings: MetricsSettings, clock: Clock, stack: AsyncExitStack
) -> Forwarding | None:
    if not settings.forward_url:
        return None
    peer = Peer(
        PeerSettings(
            flag="forward",
            url=settings.forward_url,
            bearer_token_file=settings.forward_token_file,
            ca_file=settings.forward_ca_file,
            cert_file=settings.forward_cert_file,
            key_file=settings.forward_key_file,
            insecure_skip_verify=settings.forward_insecure_skip_verify,
            timeout_seconds=DEADLINE_SECONDS / 2,
            headers=(FORWARDED,),
        ),
        clock,
    )
    made = Forwarding(peer, clock)
    stack.push_async_callback(made.close)
    return made


def _external(
    settings: MetricsSettings,
    forecasts: HttpForecasts,
    rules: Ruled | None,
    forwarding: Forwarding | None,
    clock: Clock,
) -> list[ExternalSource]:
    """Return who is asked, in turn: our forecasts' names are ours, then rules, then others."""
    sources: list[ExternalSource] = []
    if settings.forecast_url:
        sources.append(
            ForecastMetrics(
                forecasts=forecasts,
                clock=clock,
                quantity=quantity,
                max_age_seconds=settings.forecast_max_age_seconds,
            )
        )
    sources += [] if rules is None else [rules.external]
    sources += [] if forwarding is None else [forwarding]
    return sources


def _trust(
    settings: ServingSettings, client: KubeClient | None, clock: Clock, works: list[Work]
) -> tuple[Callable[[], FrontProxyTrust], Callable[[], str]]:
    """Return whom we believe, and what is missing until we know."""
    files = TrustFiles(
        client_ca_file=settings.client_ca_file,
        requestheader_client_ca_file=settings.requestheader_client_ca_file,
        allowed_names=settings.requestheader_allowed_names,
        username_headers=_lower(settings.requestheader_username_headers),
        group_headers=_lower(settings.requestheader_group_headers),
        extra_prefixes=_lower(settings.requestheader_extra_headers_prefix),
    )
    files.over(NOBODY)  # a file that cannot be read is said now
    if client is None or settings.authentication_skip_lookup:
        return lambda: files.over(NOBODY), always_ready
    cluster = ClusterTrust(client, clock)
    works.append(cluster.run)
    return lambda: files.over(cluster()), cluster.missing


def _lower(names: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(name.lower() for name in names)
