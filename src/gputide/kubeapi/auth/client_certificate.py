"""Users that prove themselves by a client certificate: common name and organizations."""

from collections.abc import Callable

from gputide.clock import Clock, utc_from_unix
from gputide.kubeapi.auth import certificates
from gputide.kubeapi.model import Credentials, User


class ClientCertificate:
    """Believes certificates of the authorities in a PEM bundle, which may rotate."""

    def __init__(self, bundle: Callable[[], str], clock: Clock) -> None:
        self._bundle = bundle
        self._clock = clock

    async def authenticate(self, credentials: Credentials) -> User | None:
        """Return the user that the certificate names; None without one of these authorities."""
        der = credentials.peer_certificate_der
        certificate = certificates.parsed(der) if der else None
        now = utc_from_unix(self._clock.now_seconds())
        if certificate is None or not certificates.issued_by(certificate, self._bundle(), now):
            return None
        name = certificates.common_name(certificate)
        return User(name=name, groups=certificates.organizations(certificate)) if name else None
