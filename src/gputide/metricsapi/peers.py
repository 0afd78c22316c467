"""Other servers over HTTP that are no Prometheus: address, token, TLS, and what they answer."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

from gputide.clock import Clock
from gputide.errors import QueryError, SettingError
from gputide.prometheus.connection import Connection, Question
from gputide.prometheus.failures import RefusedError
from gputide.prometheus.settings import PrometheusSettings


@dataclass(frozen=True, slots=True, kw_only=True)
class PeerSettings:
    """Where a server is, and who we are to it. Files are read again when they change."""

    flag: str
    """Beginning of the flags that said so, for errors: `forward`, `forecast`."""

    url: str
    bearer_token_file: Path | None = None
    ca_file: Path | None = None
    cert_file: Path | None = None
    key_file: Path | None = None
    insecure_skip_verify: bool = False
    timeout_seconds: float = 5
    max_response_bytes: int = 32 * 1024 * 1024
    headers: tuple[str, ...] = ()


class PeerError(QueryError):
    """A peer refused: `status` is HTTP's, 0 where it gave no answer."""

    def __init__(self, target: str, problem: str, *, status: int = 0) -> None:
        super().__init__(target, problem)
        self.args = (target, problem)
        self.status = status


class Peer:
    """One server; GET only. Busy or broken answers are asked again within the deadline."""

    def __init__(self, settings: PeerSettings, clock: Clock) -> None:
        self._flag = settings.flag
        self._connection = Connection(_connection_settings(settings), clock)

    @property
    def target(self) -> str:
        """The address without secrets."""
        return self._connection.target

    async def close(self) -> None:
        """Close the connections."""
        await self._connection.close()

    async def get(self, parts: Sequence[str], parameters: Sequence[tuple[str, str]] = ()) -> bytes:
        """Return the body of the answer at a path; raise PeerError."""
        path = "/" + "/".join(quote(part, safe="") for part in parts)
        question = Question(path=path, parameters=parameters, attempts=2)
        try:
            return await self._connection.ask(question, self._connection.deadline())
        except RefusedError as error:
            problem = self._named(error.problem)
            raise PeerError(error.target, problem, status=error.status) from error
        except QueryError as error:
            raise PeerError(error.target, self._named(error.problem)) from error

    def _named(self, text: str) -> str:
        """Return an error's words with our flags in place of Prometheus'."""
        hint = " (is the path before /api/v1 right?)"
        return text.replace("prometheus-", f"{self._flag}-").replace(hint, "")


def _connection_settings(settings: PeerSettings) -> PrometheusSettings:
    """Return the same as the shared connection takes it; raise SettingError naming our flag."""
    try:
        return PrometheusSettings(
            url=settings.url,
            bearer_token_file=settings.bearer_token_file,
            headers=settings.headers,
            ca_file=settings.ca_file,
            cert_file=settings.cert_file,
            key_file=settings.key_file,
            insecure_skip_verify=settings.insecure_skip_verify,
            timeout_seconds=settings.timeout_seconds,
            max_response_bytes=settings.max_response_bytes,
            max_concurrency=16,
        )
    except SettingError as error:
        flag = error.setting.replace("prometheus-", f"{settings.flag}-")
        problem = error.problem.replace("prometheus-", f"{settings.flag}-")
        raise SettingError(flag, problem) from error
