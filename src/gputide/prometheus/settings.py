"""Where Prometheus is and how to be let in, as a person writes it."""

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated
from urllib.parse import SplitResult, unquote, urlsplit

from cyclopts import Parameter

from gputide.errors import SettingError

_LONGEST_WORD = 12
"""A longer path segment with several digits may be a key; some vendors put one into the path."""


@Parameter(name="*")
@dataclass(frozen=True, slots=True, kw_only=True)
class PrometheusSettings:
    """A Prometheus-compatible server: its address, who we are to it, and how much it may answer.

    Raises SettingError, one line that names the flag. Secrets (in the URL, the token, headers) are
    in no `repr`; `target` is the address as logs and errors print it.
    """

    url: Annotated[str, Parameter(name=["--prometheus-url", "--prometheus"])] = field(repr=False)
    """Address of the HTTP API, without /api/v1 at its end; a path before that is kept."""

    bearer_token_file: Annotated[Path | None, Parameter(name="--prometheus-bearer-token-file")] = (
        None
    )
    """File with a bearer token; read again when it changes."""

    bearer_token: Annotated[
        str | None, Parameter(name="--prometheus-bearer-token", show_default=False)
    ] = field(default=None, repr=False)
    """The token itself; a file or the environment keeps it out of the process list."""

    username: Annotated[str | None, Parameter(name="--prometheus-username")] = None
    """User name of basic authentication; needs the password file."""

    password_file: Annotated[Path | None, Parameter(name="--prometheus-password-file")] = None
    """File with the password of basic authentication; read again when it changes."""

    headers: Annotated[
        tuple[str, ...], Parameter(name="--prometheus-header", negative="", show_default=False)
    ] = field(default=(), repr=False)
    """Header for every request, as "Name: value" or "Name=value"; may be given several times."""

    ca_file: Annotated[Path | None, Parameter(name="--prometheus-ca-file")] = None
    """PEM file of the authorities that sign the server's certificate; default: the system's."""

    cert_file: Annotated[Path | None, Parameter(name="--prometheus-cert-file")] = None
    """PEM file of our own certificate, for servers that ask for one (mutual TLS)."""

    key_file: Annotated[Path | None, Parameter(name="--prometheus-key-file")] = None
    """PEM file of that certificate's key, not encrypted."""

    insecure_skip_verify: Annotated[
        bool, Parameter(name="--prometheus-insecure-skip-verify", negative="")
    ] = False
    """Talk to whoever answers, certificate or not. Anyone on the way can read and forge."""

    timeout_seconds: Annotated[float, Parameter(name="--prometheus-timeout-seconds")] = 60
    """Longest wait for one question, its pieces and retries included."""

    max_response_bytes: Annotated[int, Parameter(name="--prometheus-max-response-bytes")] = (
        64 * 1024 * 1024
    )
    """Largest answer taken (unpacked); longer ranges are asked in smaller pieces."""

    max_concurrency: Annotated[int, Parameter(name="--prometheus-max-concurrency")] = 4
    """Most requests at the same time."""

    def __post_init__(self) -> None:
        parts = _split(self.url)
        _check_address(parts)
        self._check_credentials(parts)
        self._check_tls(parts)
        self._check_limits()
        for header in self.headers:
            parse_header(header)

    @property
    def base_url(self) -> str:
        """The address without user, password and the slash at its end."""
        parts = _split(self.url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path.rstrip('/')}"

    @property
    def target(self) -> str:
        """The address for people: no user, no password, long path segments cut short.

        >>> PrometheusSettings(url="https://me:pw@p.example/api/da9d7dece901db4c9fc7f5b/x").target
        'https://p.example/api/da9d…/x'
        """
        parts = _split(self.base_url)
        path = "/".join(_shorten(segment) for segment in parts.path.split("/"))
        return f"{parts.scheme}://{parts.netloc}{path}"

    @property
    def url_credentials(self) -> tuple[str, str] | None:
        """User and password from the URL."""
        parts = _split(self.url)
        if parts.username is None:
            return None
        return unquote(parts.username), unquote(parts.password or "")

    def _check_credentials(self, parts: SplitResult) -> None:
        ways = {
            "credentials in prometheus-url": parts.username is not None,
            "prometheus-bearer-token-file": self.bearer_token_file is not None,
            "prometheus-bearer-token": self.bearer_token is not None,
            "prometheus-username": self.username is not None,
        }
        given = [name for name, is_given in ways.items() if is_given]
        if len(given) > 1:
            raise SettingError(given[1], f"cannot go together with {given[0]}: give one of them")
        if (self.username is None) != (self.password_file is None):
            missing = "password-file" if self.password_file is None else "username"
            raise SettingError(f"prometheus-{missing}", "missing: a user needs both, name and file")
        if self.bearer_token is not None and not _is_token(self.bearer_token):
            raise SettingError("prometheus-bearer-token", "is empty or holds blanks")

    def _check_tls(self, parts: SplitResult) -> None:
        if (self.cert_file is None) != (self.key_file is None):
            missing = "key-file" if self.key_file is None else "cert-file"
            raise SettingError(f"prometheus-{missing}", "missing: mutual TLS needs both files")
        if self.insecure_skip_verify and self.ca_file is not None:
            raise SettingError(
                "prometheus-insecure-skip-verify", "makes prometheus-ca-file useless: give one"
            )
        for name, given in (("ca-file", self.ca_file), ("cert-file", self.cert_file)):
            if given is not None and parts.scheme != "https":
                raise SettingError(f"prometheus-{name}", "needs a prometheus-url with https://")

    def _check_limits(self) -> None:
        if not 0 < self.timeout_seconds <= 86_400:
            raise SettingError("prometheus-timeout-seconds", "must be above 0 and at most a day")
        if not 1024 <= self.max_response_bytes <= 2**31:
            raise SettingError("prometheus-max-response-bytes", "must be 1 KiB to 2 GiB")
        if not 1 <= self.max_concurrency <= 64:
            raise SettingError("prometheus-max-concurrency", "must be 1 to 64")


def parse_header(text: str) -> tuple[str, str]:
    """Return name and value of `Name: value` or `Name=value`; the value never shows in an error.

    >>> parse_header("X-Scope-OrgID: team-a")
    ('X-Scope-OrgID', 'team-a')
    """
    found = re.fullmatch(r"([A-Za-z0-9!#$%&'*+.^_`|~-]+?)(?::|=)[ \t]*(.*)", text)
    setting = "prometheus-header"
    if found is None:
        raise SettingError(setting, 'must be "Name: value"')
    name, value = found[1], found[2].strip()
    if not value or not value.isascii() or not value.isprintable():
        raise SettingError(setting, f"{name} needs a value of printable ASCII")
    if name.lower() in {"authorization", "host", "content-length", "transfer-encoding"}:
        raise SettingError(setting, f"{name} is set by its own settings (user, token, url)")
    return name, value


def _split(url: str) -> SplitResult:
    if re.search(r"[\s\x00-\x1f\x7f]", url):  # urlsplit would drop some of them in silence
        raise SettingError("prometheus-url", "holds blanks or control characters")
    try:
        parts = urlsplit(url)
        parts.port  # noqa: B018 reading it is what checks it
    except ValueError as error:
        raise SettingError("prometheus-url", "is no URL: its host or port is malformed") from error
    return parts


def _check_address(parts: SplitResult) -> None:
    setting = "prometheus-url"
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise SettingError(setting, "must look like http://host:9090 or https://host/path")
    if not parts.hostname.isascii():
        raise SettingError(setting, "must name its host in ASCII (xn--... for other letters)")
    if parts.query or parts.fragment:
        raise SettingError(setting, "must end with the path: no ?query and no #fragment")
    path = parts.path.rstrip("/")
    if path.endswith("/api/v1") or "/api/v1/query" in path:
        raise SettingError(setting, "give the address as it is before /api/v1")


def _is_token(text: str) -> bool:
    return bool(text) and text.isascii() and text.isprintable() and " " not in text


def _shorten(segment: str) -> str:
    is_key = len(segment) > _LONGEST_WORD and sum(map(str.isdigit, segment)) >= 3
    return f"{segment[:4]}…" if is_key else segment
