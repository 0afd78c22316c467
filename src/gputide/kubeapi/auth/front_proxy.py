"""Users that a front proxy (kube-aggregator) names in headers, once it has proved itself."""

from collections.abc import Mapping, Sequence
from urllib.parse import unquote

from gputide.clock import Clock, utc_from_unix
from gputide.kubeapi.auth import certificates
from gputide.kubeapi.auth.ports import FrontProxyTrust, Trust
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.model import Credentials, User

Headers = Mapping[str, tuple[str, ...]]


class FrontProxy:
    """Believes X-Remote-* only of a peer whose certificate the front proxy's authority signed."""

    def __init__(self, trust: Trust, clock: Clock) -> None:
        self._trust = trust
        self._clock = clock

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the user that the proxy names; None where the peer is no front proxy."""
        trust = self._trust()
        if not self._is_proxy(credentials.peer_certificate_der, trust):
            return None
        name = _first(credentials.headers, trust.username_headers)
        if not name:
            return None
        return User(
            name=name,
            groups=_all(credentials.headers, trust.group_headers),
            uid=_first(credentials.headers, trust.uid_headers),
            extra=_extra(credentials.headers, trust.extra_prefixes),
        )

    def _is_proxy(self, der: bytes | None, trust: FrontProxyTrust) -> bool:
        certificate = certificates.parsed(der) if der else None
        now = utc_from_unix(self._clock.now_seconds())
        if certificate is None or not certificates.issued_by(certificate, trust.authorities, now):
            return False
        name = certificates.common_name(certificate)
        if trust.allowed_names and name not in trust.allowed_names:
            raise StatusError(401, "Unauthorized", f"{name!r} is no front proxy that is allowed")
        return True


def _first(headers: Headers, names: Sequence[str]) -> str:
    return next((headers[name][0] for name in names if headers.get(name, ("",))[0]), "")


def _all(headers: Headers, names: Sequence[str]) -> tuple[str, ...]:
    return tuple(value for name in names for value in headers.get(name, ()))


def _extra(headers: Headers, prefixes: Sequence[str]) -> dict[str, tuple[str, ...]]:
    """Return what stands under each prefix; names are escaped like URLs."""
    found: dict[str, tuple[str, ...]] = {}
    for name, values in headers.items():
        prefix = next((one for one in prefixes if one and name.startswith(one)), "")
        if prefix:
            key = unquote(name.removeprefix(prefix))
            found[key] = (*found.get(key, ()), *values)
    return found
