"""Who asks and whether he may, as the cluster says: its ConfigMap, TokenReview, access review."""

from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import structlog

from gputide.clock import Clock
from gputide.errors import InputError
from gputide.kube.client import KubeClient
from gputide.kube.mirror import Mirror
from gputide.kube.model import (
    CONFIG_MAPS,
    SUBJECT_ACCESS_REVIEWS,
    TOKEN_REVIEWS,
    JsonObject,
)
from gputide.kubeapi.auth import configmap
from gputide.kubeapi.auth.chain import AlwaysAllowed, Chain
from gputide.kubeapi.auth.client_certificate import ClientCertificate
from gputide.kubeapi.auth.front_proxy import FrontProxy
from gputide.kubeapi.auth.ports import FrontProxyTrust
from gputide.kubeapi.auth.subject_access import SubjectAccess
from gputide.kubeapi.auth.token_review import TokenReview
from gputide.kubeapi.ports import Authenticator, Authorizer
from gputide.kubeapi.simple_authorizers import AllowAll

log = structlog.stdlib.get_logger()
NOBODY = FrontProxyTrust()


class KubeReviews:
    """Asks the cluster's API server to review."""

    def __init__(self, client: KubeClient) -> None:
        self._client = client

    async def token_review(self, review: JsonObject) -> JsonObject:
        """Return the TokenReview with its status."""
        return await self._client.create(TOKEN_REVIEWS, "", review)

    async def subject_access_review(self, review: JsonObject) -> JsonObject:
        """Return the SubjectAccessReview with its status."""
        return await self._client.create(SUBJECT_ACCESS_REVIEWS, "", review)


class ClusterTrust:
    """The ConfigMap of the cluster's front proxy, watched: its authorities rotate."""

    def __init__(self, client: KubeClient, clock: Clock) -> None:
        self._mirror: Mirror[FrontProxyTrust] = Mirror(
            client,
            CONFIG_MAPS,
            _decoded,
            clock,
            namespace=configmap.NAMESPACE,
            field_selector=f"metadata.name={configmap.NAME}",
        )

    def __call__(self) -> FrontProxyTrust:
        """Return what is trusted at the moment; nobody until the ConfigMap was read."""
        return self._mirror.objects.get((configmap.NAMESPACE, configmap.NAME), NOBODY)

    def missing(self) -> str:
        """Return what is missing until front proxies can be believed, "" once nothing is."""
        if self._mirror.is_synced:
            return ""
        where = f"ConfigMap {configmap.NAMESPACE}/{configmap.NAME}"
        return f"{where} is not read yet: {self._mirror.problem or 'asking'}"

    async def wait_known(self) -> None:
        """Wait until the ConfigMap was read once."""
        await self._mirror.wait_synced()

    async def run(self) -> None:
        """Watch until cancelled."""
        await self._mirror.run()


@dataclass(frozen=True, slots=True, kw_only=True)
class TrustFiles:
    """Authorities in files instead of the ConfigMap, by the flags of Kubernetes' own servers."""

    client_ca_file: Path | None = None
    requestheader_client_ca_file: Path | None = None
    allowed_names: tuple[str, ...] = ()
    username_headers: tuple[str, ...] = ("x-remote-user",)
    group_headers: tuple[str, ...] = ("x-remote-group",)
    extra_prefixes: tuple[str, ...] = ("x-remote-extra-",)

    def over(self, cluster: FrontProxyTrust) -> FrontProxyTrust:
        """Return the cluster's trust, with what the files say in its place."""
        proxy = self.requestheader_client_ca_file
        own = _text(self.client_ca_file) or cluster.client_authorities
        if proxy is None:
            return replace(cluster, client_authorities=own)
        return FrontProxyTrust(
            authorities=_text(proxy),
            allowed_names=self.allowed_names,
            username_headers=self.username_headers,
            group_headers=self.group_headers,
            extra_prefixes=self.extra_prefixes,
            client_authorities=own,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Access:
    """Who is believed, and who says what is allowed."""

    authenticator: Authenticator
    authorizer: Authorizer
    client_authorities: Callable[[], str]
    """PEM of every authority whose client certificates the TLS handshake lets through."""


def access(
    trust: Callable[[], FrontProxyTrust],
    client: KubeClient | None,
    clock: Clock,
    *,
    allows_all: bool = False,
) -> Access:
    """Return the delegated way: front proxy, client certificate, token, anonymous; then a review.

    Without a cluster there is nobody to review: then `allows_all` has to be said.
    """
    reviews = KubeReviews(client) if client is not None else None
    authenticators: list[Authenticator] = [
        FrontProxy(trust, clock),
        ClientCertificate(lambda: trust().client_authorities, clock),
    ]
    if reviews is not None:
        authenticators.append(TokenReview(reviews, clock))
    authorizer: Authorizer = AllowAll()
    if not allows_all:
        if reviews is None:
            raise InputError("authorization", "needs a cluster to ask")
        authorizer = AlwaysAllowed(SubjectAccess(reviews, clock))
    return Access(
        authenticator=Chain(authenticators),
        authorizer=authorizer,
        client_authorities=lambda: "\n".join(
            one for one in (trust().authorities, trust().client_authorities) if one.strip()
        ),
    )


def _decoded(obj: JsonObject) -> FrontProxyTrust | None:
    """Return the trust; None for a ConfigMap that says something else, which believes nobody."""
    try:
        return configmap.trust_from(obj.get("data") or {})
    except InputError as error:
        log.warning("front proxy is not believed", error=str(error))
        return None


def _text(path: Path | None) -> str:
    if path is None:
        return ""
    try:
        return path.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(str(path), f"cannot be read: {error}") from error
