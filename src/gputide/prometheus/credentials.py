"""Files and settings -> what goes with each request: headers, and the TLS context."""

import re
import ssl
from base64 import b64encode
from pathlib import Path

from gputide.errors import SettingError
from gputide.prometheus.settings import PrometheusSettings, parse_header

Signature = tuple[int, int, int]

_TENANT = re.compile("tenant|org-?id|account-?id|project-?id", re.IGNORECASE)
"""Headers that say whose data it is: no secret, and often a word of everyday use."""


class SecretFile:
    """A secret in a file; read again when the file changes (Kubernetes rotates tokens so)."""

    def __init__(self, setting: str, path: Path) -> None:
        self._setting = setting
        self._path = path
        self._signature: Signature | None = None
        self._secret = ""

    def read(self) -> str:
        """Return the secret without blanks around it, or raise SettingError."""
        try:
            signature = _signature(self._path)
            if signature != self._signature:
                self._secret = self._path.read_text(encoding="ascii").strip()
                self._signature = signature
        except OSError as error:
            raise SettingError(self._setting, f"{self._path}: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise SettingError(self._setting, f"{self._path}: holds more than ASCII") from error
        if not self._secret or not self._secret.isprintable():
            problem = "is empty" if not self._secret else "holds more than one line"
            raise SettingError(self._setting, f"{self._path}: {problem}")
        return self._secret


class Credentials:
    """The headers that every request carries, and the secrets that no message may show."""

    def __init__(self, settings: PrometheusSettings) -> None:
        self._headers = [parse_header(header) for header in settings.headers]
        self._username = settings.username
        self._token = settings.bearer_token
        self._url_credentials = settings.url_credentials
        self._token_file = (
            SecretFile("prometheus-bearer-token-file", settings.bearer_token_file)
            if settings.bearer_token_file
            else None
        )
        self._password_file = (
            SecretFile("prometheus-password-file", settings.password_file)
            if settings.password_file
            else None
        )
        self.headers()  # a file that cannot be read is known at the start

    def headers(self) -> list[tuple[str, str]]:
        """Return names and values; raises SettingError where a file has become unreadable."""
        token = self._token_file.read() if self._token_file else self._token
        if token is not None:
            return [*self._headers, ("Authorization", f"Bearer {token}")]
        basic = self._url_credentials
        if self._username is not None and self._password_file is not None:
            basic = self._username, self._password_file.read()
        if basic is not None:
            coded = b64encode(":".join(basic).encode()).decode()
            return [*self._headers, ("Authorization", f"Basic {coded}")]
        return self._headers

    def redact(self, text: str) -> str:
        """Return a server's text without our secrets: some servers quote what they refuse."""
        secrets = [value for name, value in self.headers() if not _TENANT.search(name)]
        secrets += [value.partition(" ")[2] for value in secrets]
        secrets += self._url_credentials[1:] if self._url_credentials else ()
        for secret in sorted((s for s in secrets if len(s) > 3), key=len, reverse=True):
            text = text.replace(secret, "***")
        return text


class TlsContext:
    """The TLS context of a server and of us; `refresh` takes certificates that were renewed."""

    def __init__(self, settings: PrometheusSettings) -> None:
        self._ca_file = settings.ca_file
        self._cert_file = settings.cert_file
        self._key_file = settings.key_file
        self._signatures: list[Signature] = []
        try:
            self.context = ssl.create_default_context(cafile=settings.ca_file)
        except (OSError, ssl.SSLError) as error:
            raise _unusable("prometheus-ca-file", settings.ca_file, error) from error
        if settings.insecure_skip_verify:
            self.context.check_hostname = False
            self.context.verify_mode = ssl.CERT_NONE
        self.refresh()

    def refresh(self) -> None:
        """Load the files anew if one has changed: connections made from now on use them."""
        paths = [path for path in (self._ca_file, self._cert_file, self._key_file) if path]
        try:
            signatures = [_signature(path) for path in paths]
            if signatures == self._signatures:
                return
            if self._ca_file:
                self.context.load_verify_locations(cafile=self._ca_file)
            if self._cert_file:
                self.context.load_cert_chain(self._cert_file, self._key_file, password=_no_password)
        except (OSError, ssl.SSLError) as error:
            setting = "prometheus-cert-file" if self._cert_file else "prometheus-ca-file"
            raise _unusable(setting, self._cert_file or self._ca_file, error) from error
        self._signatures = signatures


def _no_password() -> str:
    """Refuse a key that is encrypted; OpenSSL would ask on the terminal."""
    raise SettingError("prometheus-key-file", "is encrypted: give a key without a password")


def _signature(path: Path) -> Signature:
    status = path.stat()
    return status.st_mtime_ns, status.st_size, status.st_ino


def _unusable(setting: str, path: Path | None, error: OSError) -> SettingError:
    if isinstance(error, ssl.SSLError):
        return SettingError(setting, f"{path}: not usable as PEM ({error.reason or error})")
    return SettingError(setting, f"{error.filename or path}: {error.strerror}")
