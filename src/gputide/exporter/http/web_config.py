"""The Prometheus exporter-toolkit's web configuration file: what it says, checked. No I/O.

tls_server_config:
  cert_file: server.crt
  key_file: server.key
basic_auth_users:
  prometheus: $2y$10$...
"""

import re
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from gputide.errors import InputError

AuthType = Literal[
    "NoClientCert",
    "RequestClientCert",
    "RequireClientCert",
    "RequireAnyClientCert",
    "VerifyClientCertIfGiven",
    "RequireAndVerifyClientCert",
]
_UNVERIFIED = ("RequestClientCert", "RequireClientCert", "RequireAnyClientCert")
Version = Literal["TLS10", "TLS11", "TLS12", "TLS13"]
_VERSIONS = ("TLS10", "TLS11", "TLS12", "TLS13")
_BCRYPT = re.compile(r"\$2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}")
_DURATION = re.compile(r"(?:\d+(?:\.\d+)?(?:ns|us|µs|ms|s|m|h))+|0")
_DURATION_PART = re.compile(r"(\d+(?:\.\d+)?)(ns|us|µs|ms|s|m|h)")
_SECONDS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}

CIPHERS = {
    "TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256": "ECDHE-ECDSA-AES128-GCM-SHA256",
    "TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384": "ECDHE-ECDSA-AES256-GCM-SHA384",
    "TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-ECDSA-CHACHA20-POLY1305",
    "TLS_ECDHE_ECDSA_WITH_AES_128_CBC_SHA": "ECDHE-ECDSA-AES128-SHA",
    "TLS_ECDHE_ECDSA_WITH_AES_256_CBC_SHA": "ECDHE-ECDSA-AES256-SHA",
    "TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256": "ECDHE-RSA-AES128-GCM-SHA256",
    "TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384": "ECDHE-RSA-AES256-GCM-SHA384",
    "TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256": "ECDHE-RSA-CHACHA20-POLY1305",
    "TLS_ECDHE_RSA_WITH_AES_128_CBC_SHA": "ECDHE-RSA-AES128-SHA",
    "TLS_ECDHE_RSA_WITH_AES_256_CBC_SHA": "ECDHE-RSA-AES256-SHA",
}
"""Go's names of the suites up to TLS 1.2 -> OpenSSL's. Those of TLS 1.3 are not for choosing."""

_TLS13_CIPHERS = (
    "TLS_AES_128_GCM_SHA256",
    "TLS_AES_256_GCM_SHA384",
    "TLS_CHACHA20_POLY1305_SHA256",
)
CURVES = {"CurveP256": "prime256v1", "CurveP384": "secp384r1", "CurveP521": "secp521r1"}
CURVES |= {"X25519": "X25519"}
HEADERS = (
    "Content-Security-Policy",
    "Strict-Transport-Security",
    "X-Content-Type-Options",
    "X-Frame-Options",
    "X-XSS-Protection",
)


class _Strict(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Refuses fields that it does not know."""


class TlsConfig(_Strict, frozen=True):
    """`tls_server_config`; an empty text is the same as nothing, as in Go."""

    cert_file: str = ""
    key_file: str = ""
    cert: str = ""
    key: str = ""
    client_ca_file: str = ""
    client_ca: str = ""
    client_auth_type: AuthType = "NoClientCert"
    client_allowed_sans: tuple[str, ...] = ()
    min_version: Version = "TLS12"
    max_version: Version = "TLS13"
    cipher_suites: tuple[str, ...] = ()
    prefer_server_cipher_suites: bool = True
    curve_preferences: tuple[str, ...] = ()

    @property
    def files(self) -> tuple[str, ...]:
        """The files that it names."""
        return tuple(filter(None, (self.cert_file, self.key_file, self.client_ca_file)))

    def problem(self) -> str:
        """Return what is wrong with it, field first; empty where nothing is."""
        return (
            _both_or_one("cert", self.cert, self.cert_file)
            or _both_or_one("key", self.key, self.key_file)
            or self._client_problem()
            or self._protocol_problem()
        )

    def _client_problem(self) -> str:
        kind, has_ca = self.client_auth_type, bool(self.client_ca or self.client_ca_file)
        unverified = (
            f"client_auth_type: {kind} takes certificates unverified, which protects nothing;"
            " say RequireAndVerifyClientCert, with client_ca_file"
        )
        problems = {
            "client_ca: cannot go together with client_ca_file": self.client_ca
            and self.client_ca_file,
            unverified: kind in _UNVERIFIED,
            "client_ca_file: does nothing without a client_auth_type that verifies": has_ca
            and kind == "NoClientCert",
            f"client_ca_file: missing: {kind} verifies against it": not has_ca
            and kind != "NoClientCert",
            "client_allowed_sans: needs client_auth_type RequireAndVerifyClientCert": kind
            != "RequireAndVerifyClientCert"
            and self.client_allowed_sans,
        }
        return next((problem for problem, is_so in problems.items() if is_so), "")

    def _protocol_problem(self) -> str:
        if _VERSIONS.index(self.min_version) > _VERSIONS.index(self.max_version):
            return "max_version: is under min_version"
        for name in self.cipher_suites:
            if name not in CIPHERS and name not in _TLS13_CIPHERS:
                return f"cipher_suites: no suite {name!r}; there are {', '.join(CIPHERS)}"
        for name in self.curve_preferences:
            if name not in CURVES:
                return f"curve_preferences: no curve {name!r}; there are {', '.join(CURVES)}"
        if len(self.curve_preferences) > 1:
            return "curve_preferences: OpenSSL by Python takes one curve; leave it out for all"
        return ""


class HttpConfig(_Strict, frozen=True):
    """`http_server_config`."""

    http2: bool = True
    """Taken and without effect: the server speaks HTTP/1.1, which every client falls back to."""

    headers: dict[str, str] = {}

    def problem(self) -> str:
        """Return what is wrong with it, field first; empty where nothing is."""
        for name, value in self.headers.items():
            if name not in HEADERS:
                return f"headers: no {name!r}; there are {', '.join(HEADERS)}"
            if not value.isascii() or not (value.isprintable() or not value):
                return f"headers.{name}: must be printable ASCII on one line"
        return ""


class RateLimit(_Strict, frozen=True):
    """`rate_limit`: a token bucket over all requests."""

    interval: str | Literal[0] = "0"
    burst: Annotated[int, msgspec.Meta(ge=0)] = 1

    @property
    def interval_seconds(self) -> float:
        """Seconds between two requests; 0 is no limit."""
        parts = _DURATION_PART.findall(str(self.interval))
        return sum(float(number) * _SECONDS[unit] for number, unit in parts)

    def problem(self) -> str:
        """Return what is wrong with it, field first; empty where nothing is."""
        if not _DURATION.fullmatch(str(self.interval)):
            return f"interval: {self.interval!r} is no duration such as 1s or 500ms"
        if self.interval_seconds and not self.burst:
            return "burst: 0 would refuse every request"
        return ""


class WebConfig(_Strict, frozen=True):
    """The file."""

    tls_server_config: TlsConfig | None = None
    http_server_config: HttpConfig = HttpConfig()
    basic_auth_users: dict[str, str] = {}
    """bcrypt hashes by user."""

    rate_limit: RateLimit = RateLimit()


def parse_web_config(text: str, *, source: str) -> WebConfig:
    """Return what the file says; raise InputError naming the file and the field."""
    import yaml  # only where there is such a file

    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InputError(source, f"is no YAML: {' '.join(str(error).split())}") from error
    try:
        config = msgspec.convert({} if content is None else content, WebConfig)
    except msgspec.ValidationError as error:
        raise InputError(source, str(error)) from error
    problem = _problem(config)
    if problem:
        raise InputError(source, problem)
    return config


def resolve(name: str, source: Path) -> Path:
    """Return the path of a file that the web configuration names: relative to its own folder."""
    return source.parent / name


def _problem(config: WebConfig) -> str:
    sections = {
        "tls_server_config": config.tls_server_config,
        "http_server_config": config.http_server_config,
        "rate_limit": config.rate_limit,
    }
    for name, section in sections.items():
        if section is not None and (problem := section.problem()):
            return f"{name}.{problem}"
    for user, digest in config.basic_auth_users.items():
        if not user or ":" in user:
            return f"basic_auth_users: {user!r} is no user name"
        if not _BCRYPT.fullmatch(digest):  # never show it: it may be the password itself
            return f"basic_auth_users.{user}: is no bcrypt hash; htpasswd -nBC 10 makes one"
    return ""


def _both_or_one(field: str, inline: str, file: str) -> str:
    if inline and file:
        return f"{field}: cannot go together with {field}_file"
    if not inline and not file:
        return f"{field}_file: missing: TLS needs a certificate and its key"
    return ""
