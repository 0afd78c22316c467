"""The messages of joining and renewal, as both sides send them."""

import msgspec

from gputide.errors import GputideError


class JoinRequest(msgspec.Struct, frozen=True, kw_only=True):
    """What an agent asks with; the token is a secret."""

    token: str
    request: str
    """Certificate signing request, PEM."""

    name: str
    nodes: tuple[str, ...]


class JoinAnswer(msgspec.Struct, frozen=True, kw_only=True):
    """What it gets: a certificate, or why not."""

    certificate: str = ""
    site: str = ""
    nodes: tuple[str, ...] = ()
    gateways: tuple[str, ...] = ()
    error: str = ""


RENEW = "renew"
"""Call of an agent: params {"request": PEM}, result {"certificate": PEM}."""


class JoinError(GputideError):
    """Joining or renewing was refused."""


def encode(message: JoinRequest | JoinAnswer) -> bytes:
    """Return a message."""
    return msgspec.json.encode(message)


def decode_request(data: bytes) -> JoinRequest:
    """Return a request, or raise JoinError, which repeats nothing of it."""
    try:
        return msgspec.json.decode(data, type=JoinRequest)
    except msgspec.MsgspecError as error:
        raise JoinError("the join message cannot be read") from error


def decode_answer(data: bytes) -> JoinAnswer:
    """Return an answer, or raise JoinError."""
    try:
        return msgspec.json.decode(data, type=JoinAnswer)
    except msgspec.MsgspecError as error:
        raise JoinError("the gateway's answer cannot be read") from error
