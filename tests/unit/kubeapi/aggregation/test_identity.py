import json
import ssl
import stat
from datetime import UTC, datetime
from pathlib import Path

from cryptography import x509

from fakes.storages import storage
from gputide.kubeapi.aggregation.identity import CONFIG_MAP, NAMESPACE, FrontProxy, published
from gputide.kubeapi.kinds.core import CONFIG_MAP as KIND

NOW = datetime(2026, 12, 1, tzinfo=UTC)


def test_a_certificate_is_made_for_the_front_proxy_and_kept_from_others(tmp_path: Path) -> None:
    proxy = FrontProxy.made(tmp_path, NOW)
    certificate = x509.load_pem_x509_certificate(proxy.certificate_file.read_bytes())
    authority = x509.load_pem_x509_certificate(proxy.authority_pem.encode())
    certificate.verify_directly_issued_by(authority)

    assert certificate.subject.rfc4514_string() == "CN=front-proxy-client"
    assert stat.S_IMODE(proxy.key_file.stat().st_mode) == 0o600
    ssl.create_default_context().load_cert_chain(proxy.certificate_file, proxy.key_file)
    FrontProxy.made(tmp_path, NOW)
    assert certificate.not_valid_before_utc < NOW < certificate.not_valid_after_utc


async def test_the_config_map_says_whom_a_server_behind_may_believe(tmp_path: Path) -> None:
    async with storage() as store:
        await published(store, FrontProxy.made(tmp_path, NOW))
        proxy = FrontProxy.made(tmp_path, NOW, client_authority_pem="pem")
        await published(store, proxy)
        data = (await store.get(KIND, NAMESPACE, CONFIG_MAP))["data"]

        assert data["requestheader-client-ca-file"] == proxy.authority_pem
        assert data["client-ca-file"] == "pem"
        assert json.loads(data["requestheader-allowed-names"]) == ["front-proxy-client"]
        assert json.loads(data["requestheader-username-headers"]) == ["X-Remote-User"]
        assert json.loads(data["requestheader-extra-headers-prefix"]) == ["X-Remote-Extra-"]
