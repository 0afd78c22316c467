"""Join tokens: what an agent shows once to get its certificate.

`gpt1.ID.SECRET.FINGERPRINT`: the secret is kept as a hash alone, the fingerprint pins the gateways'
authority, so that the agent sends its token to nobody else.
"""

import hashlib
import hmac
from base64 import urlsafe_b64encode
from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Protocol

import msgspec

from gputide.errors import GputideError, InputError, SettingError
from gputide.tunnel.identity.files import create_new, read_secret
from gputide.tunnel.model import is_named_by

PREFIX = "gpt1"
ID_BYTES, SECRET_BYTES = 8, 24
MAX_USES = 10_000


class TokenProblem(StrEnum):
    """Why a token was refused; for logs and metrics, the agent hears less."""

    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"
    ALTERED = "altered"
    EXPIRED = "expired"
    USED = "used"
    WRONG_NAME = "wrong_name"


class TokenError(GputideError):
    """A token is refused."""

    def __init__(self, problem: TokenProblem, text: str) -> None:
        super().__init__(problem, text)
        self.problem = problem
        self.text = text

    def __str__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token as its holder has it."""

    id: str
    secret: str
    fingerprint: str

    def __repr__(self) -> str:
        return f"Token(id={self.id!r})"  # never the secret, which would end up in a log


class TokenRecord(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A token as the gateways keep it."""

    id: str
    secret_sha256: str
    nodes: tuple[str, ...]
    site: str = ""
    not_after_seconds: float
    uses: int = 1


class TokenStore(Protocol):
    """Where gateways keep tokens; shared by all of them."""

    def add(self, record: TokenRecord) -> None:
        """Keep a new token; raises InputError."""

    def find(self, token_id: str) -> TokenRecord | None:
        """Return a token's record."""

    def use(self, record: TokenRecord) -> bool:
        """Note one use, atomically over all gateways; False: all uses are spent."""


def parse_token(text: str) -> Token:
    """Return a token, or raise TokenError (which does not repeat it)."""
    parts = text.strip().split(".")
    if len(parts) != 4 or parts[0] != PREFIX or not all(parts) or not text.isascii():
        raise TokenError(TokenProblem.UNREADABLE, "this is no join token (gpt1.ID.SECRET.HASH)")
    if len(parts[1]) != 2 * ID_BYTES or not parts[1].isalnum():
        raise TokenError(TokenProblem.UNREADABLE, "the join token is damaged")
    return Token(id=parts[1], secret=parts[2], fingerprint=parts[3])


def format_token(token: Token) -> str:
    """Return the text that is handed to whoever joins."""
    return f"{PREFIX}.{token.id}.{token.secret}.{token.fingerprint}"


def new_token(
    *,
    nodes: tuple[str, ...],
    site: str,
    not_after_seconds: float,
    uses: int,
    fingerprint: str,
    random: Callable[[int], bytes],
) -> tuple[Token, TokenRecord]:
    """Return a token and what to keep of it. `random` gives secret bytes."""
    if not 1 <= uses <= MAX_USES:
        raise SettingError("uses", f"must be 1 to {MAX_USES}")
    secret = urlsafe_b64encode(random(SECRET_BYTES)).decode()
    token = Token(id=random(ID_BYTES).hex(), secret=secret, fingerprint=fingerprint)
    record = TokenRecord(
        id=token.id,
        secret_sha256=_hash(secret),
        nodes=nodes,
        site=site,
        not_after_seconds=not_after_seconds,
        uses=uses,
    )
    return token, record


def redeem(
    store: TokenStore, token: Token, *, nodes: tuple[str, ...], now_seconds: float
) -> TokenRecord:
    """Spend one use of a token for these nodes and return its record, or raise TokenError.

    A wrong name spends nothing. `nodes` are names or patterns; each must be within what the token
    allows (a pattern has to be one of the token's own).
    """
    record = store.find(token.id)
    if record is None:
        raise TokenError(TokenProblem.UNKNOWN, f"token {token.id} is not known here")
    if not hmac.compare_digest(_hash(token.secret), record.secret_sha256):
        raise TokenError(TokenProblem.ALTERED, f"token {token.id} was altered")
    if now_seconds >= record.not_after_seconds:
        raise TokenError(TokenProblem.EXPIRED, f"token {token.id} has expired")
    for node in nodes:
        is_pattern = any(character in node for character in "*?")
        if not (node in record.nodes if is_pattern else is_named_by(node, record.nodes)):
            text = f"token {token.id} is not for node {node} ({', '.join(record.nodes)})"
            raise TokenError(TokenProblem.WRONG_NAME, text)
    if not nodes:
        raise TokenError(TokenProblem.WRONG_NAME, "no node was named")
    if not store.use(record):
        raise TokenError(TokenProblem.USED, f"token {token.id} was used already")
    return record


def _hash(secret: str) -> str:
    return hashlib.sha256(secret.encode()).hexdigest()


class DirectoryTokens:
    """Tokens as files of a directory: a record each, and one file for each use."""

    def __init__(self, directory: Path) -> None:
        self._directory = directory

    def add(self, record: TokenRecord) -> None:
        """Keep a new token; raises InputError."""
        path = self._path(record.id)
        if not create_new(path, msgspec.json.encode(record)):
            raise InputError(str(path), "exists already")

    def find(self, token_id: str) -> TokenRecord | None:
        """Return a token's record; None for an unknown one, also for a name that is no id."""
        if not token_id.isalnum():
            return None
        path = self._path(token_id)
        if not path.exists():
            return None
        try:
            return msgspec.json.decode(read_secret(path), type=TokenRecord)
        except msgspec.MsgspecError as error:
            raise InputError(str(path), f"is damaged: {error}") from error

    def use(self, record: TokenRecord) -> bool:
        """Note one use: whoever creates the next file of the row has it."""
        return any(
            create_new(self._directory / f"{record.id}.used-{number}", b"")
            for number in range(record.uses)
        )

    def sweep(self, *, now_seconds: float) -> int:
        """Remove expired tokens and their uses; return how many."""
        removed = 0
        for path in sorted(self._directory.glob("*.json")):
            record = self.find(path.stem)
            if record is not None and now_seconds >= record.not_after_seconds:
                path.unlink(missing_ok=True)
                for used in self._directory.glob(f"{record.id}.used-*"):
                    used.unlink(missing_ok=True)
                removed += 1
        return removed

    def _path(self, token_id: str) -> Path:
        return self._directory / f"{token_id}.json"
