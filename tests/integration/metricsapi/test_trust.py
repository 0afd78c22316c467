"""Whom the cluster believes, read from a real API server and from files."""

import asyncio
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from fakes.kubeapi_server import KubeapiServer
from gputide.clock import SystemClock
from gputide.errors import InputError
from gputide.kube.client import KubeClient
from gputide.kube.settings import KubeSettings
from gputide.kubeapi.auth.ports import FrontProxyTrust
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Attributes, Credentials, User
from gputide.metricsapi.trust import NOBODY, ClusterTrust, TrustFiles, access


def settings(cluster: KubeapiServer) -> KubeSettings:
    account = cluster.service_account("gputide-system", "gputide-metricsapi")
    return KubeSettings(kubeconfig=str(account))


async def test_the_clusters_config_map_is_read_and_nobody_is_believed_before(
    cluster: KubeapiServer,
) -> None:
    async with KubeClient(settings(cluster)) as kube:
        trust = ClusterTrust(kube, SystemClock())
        assert trust() == NOBODY
        assert "extension-apiserver-authentication is not read yet" in trust.missing()
        following = asyncio.create_task(trust.run())
        async with asyncio.timeout(20):
            await trust.wait_known()
        following.cancel()

    assert trust.missing() == ""
    assert "BEGIN CERTIFICATE" in trust().authorities
    assert trust().username_headers == ("x-remote-user",)
    assert trust().client_authorities == cluster.authority.pem.decode()


async def test_tokens_and_rights_are_the_clusters_to_review(cluster: KubeapiServer) -> None:
    async with KubeClient(settings(cluster)) as kube:
        told = access(lambda: NOBODY, kube, SystemClock())
        nobody = Credentials(bearer_token=None, peer_certificate_der=None, headers={})
        liar = Credentials(bearer_token="x", peer_certificate_der=None, headers={})
        user = await told.authenticator.authenticate(nobody)
        assert user is not None
        assert user.name == "system:anonymous"
        with pytest.raises(StatusError, match="not valid") as caught:
            await told.authenticator.authenticate(liar)
        assert caught.value.code == 401
        allowed = [
            (await told.authorizer.authorize(asking(*groups))).is_allowed
            for groups in ((), ("system:serviceaccounts",), ("system:masters",))
        ]

    assert allowed == [False, True, True]


def asking(*groups: str) -> Attributes:
    return Attributes(
        user=User(name="u", groups=groups),
        verb="list",
        path="/apis/external.metrics.k8s.io/v1beta1/namespaces/n/m",
        is_resource=True,
        group="external.metrics.k8s.io",
        version="v1beta1",
        resource="m",
        namespace="n",
    )


def test_files_stand_in_place_of_what_the_cluster_says(tmp_path: Path) -> None:
    (tmp_path / "own").write_text("own authority")
    (tmp_path / "proxy").write_text("proxy authority")
    cluster = FrontProxyTrust(
        authorities="a",
        username_headers=("x-user",),
        uid_headers=("x-uid",),
        client_authorities="c",
    )

    assert TrustFiles().over(cluster) == cluster
    only_own = TrustFiles(client_ca_file=tmp_path / "own").over(cluster)
    assert (only_own.authorities, only_own.client_authorities) == ("a", "own authority")
    both = TrustFiles(requestheader_client_ca_file=tmp_path / "proxy", allowed_names=("p",)).over(
        cluster
    )
    assert (both.authorities, both.allowed_names) == ("proxy authority", ("p",))
    assert (both.username_headers, both.client_authorities) == (("x-remote-user",), "c")
    with pytest.raises(InputError, match="cannot be read"):
        TrustFiles(client_ca_file=tmp_path / "absent").over(cluster)


def test_without_a_cluster_somebody_has_to_say_that_all_is_allowed() -> None:
    with pytest.raises(InputError, match="needs a cluster"):
        access(lambda: NOBODY, None, FakeClock())
    told = access(
        lambda: FrontProxyTrust(authorities="a", client_authorities="b"),
        None,
        FakeClock(),
        allows_all=True,
    )

    assert told.client_authorities() == "a\nb"
