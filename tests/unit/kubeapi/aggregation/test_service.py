import base64

import pytest
import trustme

from gputide.kubeapi.aggregation.service import address, behind
from gputide.kubeapi.errors import StatusError


def api_service(**spec: object) -> dict:
    base = {
        "group": "x.io",
        "version": "v1",
        "service": {"namespace": "n", "name": "s", "port": 8443},
    }
    return {"metadata": {"name": "v1.x.io"}, "spec": base | spec}


def test_a_service_behind_is_known_by_its_names() -> None:
    authority = trustme.CA().cert_pem.bytes()
    wanted = behind(api_service(caBundle=base64.b64encode(authority).decode()))

    assert wanted is not None
    assert (wanted.name, wanted.server_name, wanted.path) == (
        "v1.x.io",
        "s.n.svc",
        "/apis/x.io/v1",
    )
    assert wanted.authority_pem == authority.decode()
    assert wanted.port == 8443


def test_no_service_means_this_server_and_skipping_means_unverified() -> None:
    assert behind(api_service(service=None)) is None
    wanted = behind(api_service(insecureSkipTLSVerify=True))
    assert wanted is not None
    assert not wanted.is_verified


@pytest.mark.parametrize("bundle", ["?", "bm8gY2VydGlmaWNhdGU=", "//8="])
def test_a_bundle_that_is_no_certificate_is_refused(bundle: str) -> None:
    with pytest.raises(StatusError, match="caBundle"):
        behind(api_service(caBundle=bundle))


def test_an_external_name_or_a_cluster_address_is_where_it_lies() -> None:
    external = {"spec": {"type": "ExternalName", "externalName": "localhost"}}

    assert address(external, 443) == ("localhost", 443)
    assert address({"spec": {"clusterIP": "10.96.0.9"}}, 443) == ("10.96.0.9", 443)
    assert address({"spec": {"clusterIP": "None"}}, 443) is None
    assert address({}, 443) is None
