"""Trades join tokens for certificates, and old certificates for new ones."""

from collections import Counter

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.tunnel.identity.authority import Authority
from gputide.tunnel.identity.certificate import load_certificate, read_identity
from gputide.tunnel.identity.tokens import TokenError, TokenStore, parse_token, redeem
from gputide.tunnel.joining import JoinAnswer, JoinError, JoinRequest, decode_request, encode
from gputide.tunnel.model import Identity, parse_node, parse_pattern

log = structlog.stdlib.get_logger()

MAX_NAME = 64


class Desk:
    """Signs for whoever shows a good token, and renews for whoever has a good certificate."""

    def __init__(
        self,
        authority: Authority,
        tokens: TokenStore,
        clock: Clock,
        *,
        lifetime_seconds: float,
        gateways: tuple[str, ...] = (),
    ) -> None:
        self._authority = authority
        self._tokens = tokens
        self._clock = clock
        self._lifetime_seconds = lifetime_seconds
        self._gateways = gateways
        self.outcomes: Counter[str] = Counter()
        """Joins by outcome (`joined`, `renewed`, or why refused); for metrics."""

    def authority_pem(self) -> bytes:
        """Return the authority's certificate."""
        return self._authority.pem

    async def join(self, message: bytes, *, address: str) -> bytes:
        """Return the answer to a join message; a refusal is logged in full, answered in short."""
        try:
            answer = self._join(decode_request(message), address)
        except TokenError as error:
            self.outcomes[error.problem] += 1
            log.warning("join refused", peer=address, reason=error.problem, why=str(error))
            # the agent learns no more than a person at its site needs: a guesser learns nothing
            answer = JoinAnswer(error=_short(error))
        except GputideError as error:
            self.outcomes["bad_request"] += 1
            log.warning("join refused", peer=address, reason="bad_request", why=str(error))
            answer = JoinAnswer(error=str(error))
        return encode(answer)

    def _join(self, asked: JoinRequest, address: str) -> JoinAnswer:
        token = parse_token(asked.token)
        nodes = tuple(dict.fromkeys(_name_or_pattern(node) for node in asked.nodes))
        name = parse_node(asked.name, setting="name")
        if len(name) > MAX_NAME:
            raise JoinError(f"an agent's name has at most {MAX_NAME} characters")
        now_seconds = self._clock.now_seconds()
        record = redeem(self._tokens, token, nodes=nodes, now_seconds=now_seconds)
        certificate = self._authority.sign_agent(
            asked.request.encode(),
            name=name,
            site=record.site,
            nodes=nodes,
            lifetime_seconds=self._lifetime_seconds,
            now_seconds=now_seconds,
        )
        identity = read_identity(load_certificate(certificate, "certificate"))
        self.outcomes["joined"] += 1
        log.info(
            "agent joined",
            peer=address,
            agent=name,
            site=record.site,
            nodes=nodes[:10],
            token=token.id,
            serial=f"{identity.serial:x}",
        )
        return JoinAnswer(
            certificate=certificate.decode(),
            site=record.site,
            nodes=nodes,
            gateways=self._gateways,
        )

    def renew(self, identity: Identity, request_pem: str) -> str:
        """Return a new certificate for the same names; InputError for a bad request."""
        certificate = self._authority.sign_agent(
            request_pem.encode(),
            name=identity.name,
            site=identity.site,
            nodes=identity.nodes,
            lifetime_seconds=self._lifetime_seconds,
            now_seconds=self._clock.now_seconds(),
        )
        self.outcomes["renewed"] += 1
        log.info("certificate renewed", agent=identity.name, site=identity.site)
        return certificate.decode()


def _name_or_pattern(text: str) -> str:
    return parse_pattern(text) if any(mark in text for mark in "*?") else parse_node(text)


def _short(error: TokenError) -> str:
    words = {
        "expired": "the join token has expired: ask for a new one",
        "used": "the join token was used already: ask for a new one",
        "wrong_name": str(error),
    }
    return words.get(error.problem, "the join token is not valid here")
