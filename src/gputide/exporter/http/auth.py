"""Basic authentication against bcrypt hashes: slow by design, so what was verified is kept."""

import asyncio
import base64
import binascii
import hmac
import secrets
from collections import OrderedDict
from collections.abc import Mapping

_MAX_VERIFIED = 64
_MAX_REFUSED = 256
_BCRYPT_BYTES = 72
"""bcrypt looks at no more of a password; Go's does not either."""

_NOBODY = b"$2b$10$2nqBQFqj0CZnSTJcXyZD4.CkWOuf9xfKlTQeYdAFTqN2OgLpBrCwC"
"""A hash that takes unknown users as long as known ones."""


class Verifier:
    """Tells whether a password is right; hashes at most one at a time, off the event loop.

    Answers are kept under a keyed digest of user, hash and password, right ones apart from wrong
    ones, so that a flood of wrong passwords neither drives Prometheus' out nor takes a second core.
    """

    def __init__(self) -> None:
        self._key = secrets.token_bytes(32)
        self._verified: OrderedDict[bytes, None] = OrderedDict()
        self._refused: OrderedDict[bytes, None] = OrderedDict()
        self._turn = asyncio.Lock()

    async def is_right(self, authorization: str, users: Mapping[str, str]) -> bool:
        """Return whether the header names a user with that user's password."""
        credentials = parse_basic(authorization)
        if credentials is None:
            return False
        user, password = credentials
        known = users.get(user)
        kept = self._digest(user, known or "", password)
        if self._is_new(kept):
            async with self._turn:
                await self._look(kept, password, known)
        if kept in self._verified:
            self._verified.move_to_end(kept)
            return True
        return False

    async def _look(self, kept: bytes, password: bytes, known: str | None) -> None:
        if self._is_new(kept):  # still, after waiting for the turn
            digest = known.encode() if known else _NOBODY
            is_match = await asyncio.to_thread(_matches, password, digest)
            self._keep(kept, is_right=is_match and known is not None)

    def _is_new(self, kept: bytes) -> bool:
        return kept not in self._verified and kept not in self._refused

    def _keep(self, kept: bytes, *, is_right: bool) -> None:
        answers, limit = (
            (self._verified, _MAX_VERIFIED) if is_right else (self._refused, _MAX_REFUSED)
        )
        answers[kept] = None
        if len(answers) > limit:
            answers.popitem(last=False)

    def _digest(self, user: str, known: str, password: bytes) -> bytes:
        message = b"\0".join((user.encode(), known.encode(), password))
        return hmac.digest(self._key, message, "sha256")


def parse_basic(authorization: str) -> tuple[str, bytes] | None:
    """Return user and password of an Authorization header; None where it is no basic one.

    >>> parse_basic("Basic YTpiOmM=")
    ('a', b'b:c')
    """
    scheme, _, encoded = authorization.partition(" ")
    if scheme.lower() != "basic":
        return None
    try:
        user, colon, password = base64.b64decode(encoded.strip(), validate=True).partition(b":")
        return (user.decode(), password) if colon else None
    except (binascii.Error, UnicodeDecodeError):
        return None


def _matches(password: bytes, digest: bytes) -> bool:
    import bcrypt  # only where there are users

    try:
        return bcrypt.checkpw(password[:_BCRYPT_BYTES], digest)
    except ValueError:  # a NUL in the password, or a hash that only looks like one
        return False
