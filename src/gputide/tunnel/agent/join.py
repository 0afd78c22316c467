"""Joining: the token pins the authority, and goes to nobody else."""

import asyncio
import hashlib
import hmac
import ssl
from dataclasses import dataclass
from urllib.parse import urlsplit

from gputide.errors import SettingError
from gputide.tunnel.agent.credentials import AgentFiles, fresh_key
from gputide.tunnel.carrier import dial
from gputide.tunnel.identity.certificate import load_certificate, new_request
from gputide.tunnel.identity.tokens import Token, format_token
from gputide.tunnel.joining import JoinAnswer, JoinError, JoinRequest, decode_answer, encode
from gputide.tunnel.model import CarrierClosedError
from gputide.tunnel.tls import joining_context, unverified_context

CONNECT_SECONDS = 15.0
MAX_CA_BYTES = 65_536
DEFAULT_PORT = 8443


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayUrl:
    """Where a gateway's door is."""

    host: str
    port: int

    @property
    def authority(self) -> str:
        """`host:port`."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{host}:{self.port}"

    def url(self, path: str) -> str:
        """Return the WebSocket address of a path."""
        return f"wss://{self.authority}{path}"


def parse_gateway(text: str, *, setting: str = "url") -> GatewayUrl:
    """Return a gateway's address (`https://gw.example:8443`, `gw.example`), or SettingError."""
    if "://" not in text:
        text = f"https://{text}"
    try:
        parts = urlsplit(text)
        port = parts.port or DEFAULT_PORT
    except ValueError as error:
        raise SettingError(setting, f"{text!r} is no address: {error}") from error
    is_plain = not (parts.path.strip("/") or parts.query or parts.fragment or parts.username)
    if parts.scheme not in ("https", "wss") or not parts.hostname or not is_plain:
        raise SettingError(setting, f"{text!r} is no gateway's address, such as https://gw:8443")
    return GatewayUrl(host=parts.hostname, port=port)


async def join(
    gateway: GatewayUrl, token: Token, *, name: str, nodes: tuple[str, ...], files: AgentFiles
) -> JoinAnswer:
    """Fetch a certificate for these nodes and keep it; raises JoinError, which names no secret."""
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            authority_pem = await _fetch_authority(gateway, token)
            key = fresh_key()
            asked = JoinRequest(
                token=format_token(token),
                request=new_request(key, name).decode(),
                name=name,
                nodes=nodes,
            )
            answer = await _ask(gateway, authority_pem, asked)
    except (OSError, CarrierClosedError) as error:
        raise JoinError(f"{gateway.authority}: {_words(error)}") from error
    except TimeoutError as error:
        raise JoinError(f"{gateway.authority}: no answer in {CONNECT_SECONDS:.0f} s") from error
    if answer.error:
        raise JoinError(f"{gateway.authority}: {answer.error}")
    files.save(key, answer.certificate, authority_pem)
    return answer


async def _fetch_authority(gateway: GatewayUrl, token: Token) -> str:
    """Return the authority that the token names; JoinError where another one answers."""
    reader, writer = await asyncio.open_connection(
        gateway.host, gateway.port, ssl=unverified_context(), server_hostname=gateway.host
    )
    try:
        request = f"GET /v1/ca HTTP/1.1\r\nHost: {gateway.authority}\r\nConnection: close\r\n\r\n"
        writer.write(request.encode())
        await writer.drain()
        answer = await reader.read(MAX_CA_BYTES)
        while (more := await reader.read(MAX_CA_BYTES)) and len(answer) < MAX_CA_BYTES:
            answer += more
    finally:
        writer.close()
    _, _, pem = answer.partition(b"\r\n\r\n")
    certificate = load_certificate(pem, f"https://{gateway.authority}/v1/ca")
    found = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pem.decode().strip())).hexdigest()
    if not hmac.compare_digest(found, token.fingerprint):
        raise JoinError(
            f"{gateway.authority}: is not the gateway that the token is for (its authority is"
            f" {certificate.subject.rfc4514_string()}, {found[:16]}...): the token was not sent"
        )
    return pem.decode()


async def _ask(gateway: GatewayUrl, authority_pem: str, asked: JoinRequest) -> JoinAnswer:
    reader, writer = await asyncio.open_connection(
        gateway.host,
        gateway.port,
        ssl=joining_context(authority_pem),
        server_hostname=gateway.host,
    )
    carrier = await dial(reader, writer, gateway.url("/v1/join"))
    try:
        await carrier.send(encode(asked))
        return decode_answer(await carrier.receive())
    finally:
        await carrier.close()


def _words(error: Exception) -> str:
    if isinstance(error, ssl.SSLCertVerificationError):
        return f"its certificate does not count: {error.verify_message}"
    return str(getattr(error, "strerror", None) or error)
