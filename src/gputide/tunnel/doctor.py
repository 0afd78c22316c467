"""Walks the way of a scrape, hop by hop, and says which one is broken and what would mend it."""

import asyncio
import socket
from dataclasses import dataclass
from enum import StrEnum

import httpx2
import msgspec

from gputide.errors import GputideError
from gputide.tunnel.gateway.entrance.answer import CLIENT_NOT_ALLOWED, OUTCOME_HEADER
from gputide.tunnel.gateway.node_status import NodeStatus
from gputide.tunnel.protocol import Code

TIMEOUT_SECONDS = 10.0


class Hop(StrEnum):
    """The way of a scrape."""

    NAME = "name"
    ENTRANCE = "entrance"
    SESSION = "session"
    ALLOW_LIST = "allow-list"
    EXPORTER = "exporter"


class State(StrEnum):
    """Of a hop."""

    OK = "ok"
    BROKEN = "BROKEN"
    NOT_REACHED = "-"


class BrokenHopError(GputideError):
    """A node cannot be scraped, and it is known where the way ends."""

    def __init__(self, node: str, hop: Hop) -> None:
        super().__init__(node, hop)
        self.node = node
        self.hop = hop

    def __str__(self) -> str:
        return f"{self.node} cannot be scraped: broken at its {self.hop}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What was seen at one hop."""

    hop: Hop
    state: State
    text: str = ""
    mend: str = ""
    """What would mend it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """Which page of which node, and by which way in."""

    node: str
    port: int
    path: str = "/metrics"
    entrance: str = ""
    """HOST:PORT of a gateway's entrance, instead of what the node's name resolves to."""

    proxy: str = ""
    """The gateway's proxy, as Prometheus' `proxy_url`; no name is needed then."""

    ops: tuple[str, ...] = ()
    """The gateways' own pages: http://HOST:PORT."""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cure:
    hop: Hop
    mend: str


_AGENT_LOG = "see the log of the site's agent: its machine, its line, or its certificate"
_CURES = {
    CLIENT_NOT_ALLOWED: _Cure(
        hop=Hop.ENTRANCE, mend="add this machine's network to the gateway's --allow-client"
    ),
    Code.BAD_REQUEST: _Cure(hop=Hop.ENTRANCE, mend="ask by a node's name, and the port it is for"),
    Code.UNKNOWN_NODE: _Cure(
        hop=Hop.SESSION,
        mend="name the node in an agent's --node, and in the token that it joins with",
    ),
    Code.GONE: _Cure(hop=Hop.SESSION, mend=_AGENT_LOG),
    Code.TIMED_OUT: _Cure(hop=Hop.SESSION, mend=f"the line is too slow or cut; {_AGENT_LOG}"),
    Code.TOO_MANY: _Cure(hop=Hop.SESSION, mend="ask this agent's nodes for less at a time"),
    Code.NOT_ALLOWED: _Cure(
        hop=Hop.ALLOW_LIST, mend="allow it at the site, if you mean to: agent --allow PORT:/PATH"
    ),
    Code.UNREACHABLE: _Cure(
        hop=Hop.EXPORTER, mend="start the exporter; is the address in the agent's --node right?"
    ),
    Code.TARGET_TIMED_OUT: _Cure(
        hop=Hop.EXPORTER, mend="the exporter takes too long: see its log, or raise scrape_timeout"
    ),
    Code.TOO_LARGE: _Cure(hop=Hop.EXPORTER, mend="the page is too large: leave series out of it"),
}
_OTHER = _Cure(hop=Hop.SESSION, mend="see the logs of gateway and agent")


async def examine(question: Question) -> tuple[Finding, ...]:
    """Return one finding a hop, in order; those behind a broken one are not reached."""
    found: list[Finding] = []
    ways = await _ways(question, found)
    if found[-1].state is State.OK:
        answer = await _knock(question, ways, found)
        if answer is not None:
            told = _read(question, answer)
            found = [one for one in found if one.hop is not told[0].hop] + told
    found += [Finding(hop=hop, state=State.NOT_REACHED) for hop in list(Hop)[len(found) :]]
    status = await _status(question)
    return tuple(_told(one, status) if one.hop is Hop.SESSION else one for one in found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Answer:
    status: int
    reason: str
    outcome: str
    page: bytes
    seconds: float


async def _ways(question: Question, found: list[Finding]) -> list[str]:
    """Return `host:port` of each entrance."""
    if question.proxy:
        text = "not needed: the proxy is asked by it"
        found.append(Finding(hop=Hop.NAME, state=State.OK, text=text))
        return [question.proxy]
    if question.entrance:
        text = f"not asked for: {question.entrance} is given"
        found.append(Finding(hop=Hop.NAME, state=State.OK, text=text))
        return [question.entrance]
    try:
        entries = await asyncio.get_running_loop().getaddrinfo(
            question.node, question.port, type=socket.SOCK_STREAM
        )
    except OSError as error:
        found.append(
            Finding(
                hop=Hop.NAME,
                state=State.BROKEN,
                text=f"{question.node}: {error.strerror or error}",
                mend="publish names (gateway --hosts-file or --names-in-cluster) to the resolver"
                " of this machine, or scrape by proxy_url",
            )
        )
        return []
    addresses = list(dict.fromkeys(str(entry[4][0]) for entry in entries))
    text = f"{question.node} is {', '.join(addresses)}"
    found.append(Finding(hop=Hop.NAME, state=State.OK, text=text))
    return [f"[{one}]:{question.port}" if ":" in one else f"{one}:{question.port}"
            for one in addresses]  # fmt: skip


async def _knock(question: Question, ways: list[str], found: list[Finding]) -> _Answer | None:
    """Ask at each entrance; return the best answer, and note who gave none."""
    tried = await asyncio.gather(*(_ask(question, way) for way in ways))
    answers = [one for one in tried if isinstance(one, _Answer)]
    silent = [f"{way}: {one}" for way, one in zip(ways, tried, strict=True) if isinstance(one, str)]
    text = "; ".join([f"{len(answers)} of {len(ways)} answer", *silent])
    if answers:
        found.append(Finding(hop=Hop.ENTRANCE, state=State.OK, text=text))
        return min(answers, key=lambda one: one.status)
    mend = "run the gateway there (--listen-host, --http-port, --proxy-address), let the port pass"
    found.append(Finding(hop=Hop.ENTRANCE, state=State.BROKEN, text=text, mend=mend))
    return None


async def _ask(question: Question, way: str) -> _Answer | str:
    """Return the answer of one entrance, or why there is none."""
    proxy = question.proxy or None
    where = f"{question.node}:{question.port}"
    base = f"http://{where if proxy else way}"
    try:
        async with httpx2.AsyncClient(
            trust_env=False, timeout=TIMEOUT_SECONDS, proxy=proxy
        ) as client:
            answer = await client.get(f"{base}{question.path}", headers={"Host": where})
    except httpx2.HTTPError as error:
        return str(error) or type(error).__name__
    return _Answer(
        status=answer.status_code,
        reason=answer.reason_phrase,
        outcome=answer.headers.get(OUTCOME_HEADER, ""),
        page=answer.content,
        seconds=answer.elapsed.total_seconds(),
    )


def _read(question: Question, answer: _Answer) -> list[Finding]:
    """Return what an answer says of the hops behind the entrance."""
    if not answer.outcome:
        passed = [Finding(hop=hop, state=State.OK) for hop in (Hop.SESSION, Hop.ALLOW_LIST)]
        if answer.status == httpx2.codes.OK:
            text = f"{len(answer.page)} bytes in {answer.seconds * 1000:.0f} ms"
            return [*passed, Finding(hop=Hop.EXPORTER, state=State.OK, text=text)]
        text = f"{question.node}:{question.port}{question.path} answers HTTP {answer.status}"
        mend = "ask the exporter for a path that it has, with what it wants of a client"
        return [*passed, Finding(hop=Hop.EXPORTER, state=State.BROKEN, text=text, mend=mend)]
    cure = _CURES.get(answer.outcome, _OTHER)
    broken = Finding(hop=cure.hop, state=State.BROKEN, text=answer.reason, mend=cure.mend)
    hops = list(Hop)
    between = hops[hops.index(Hop.SESSION) : hops.index(cure.hop)]
    return [*(Finding(hop=hop, state=State.OK) for hop in between), broken]


async def _status(question: Question) -> str:
    """Return what the gateways' own pages say of the node's session."""
    return "; ".join(
        await asyncio.gather(*(_one_status(question.node, one) for one in question.ops))
    )


async def _one_status(node: str, url: str) -> str:
    try:
        async with httpx2.AsyncClient(trust_env=False, timeout=TIMEOUT_SECONDS) as client:
            answer = await client.get(f"{url.rstrip('/')}/nodes/{node}")
        status = msgspec.json.decode(answer.raise_for_status().content, type=NodeStatus)
    except (httpx2.HTTPError, httpx2.InvalidURL, msgspec.MsgspecError) as error:
        return f"{url} does not say ({str(error) or type(error).__name__})"
    if not status.is_up:
        return f"{url}: {status.why}"
    trip = status.round_trip_seconds
    told = "" if trip is None else f", round trip {trip * 1000:.0f} ms"
    return f"{url}: agent {status.agent} of site {status.site or '-'}{told}"


def _told(finding: Finding, status: str) -> Finding:
    text = "; ".join(part for part in (finding.text, status) if part)
    return Finding(hop=finding.hop, state=finding.state, text=text, mend=finding.mend)


def lines(findings: tuple[Finding, ...]) -> list[str]:
    """Return the findings as a person reads them."""
    shown = []
    for one in findings:
        shown.append(f"{one.state:7} {one.hop:11} {one.text or _PLAIN[one.state]}")
        if one.mend:
            shown.append(f"{'':19} -> {one.mend}")
    return shown


_PLAIN = {State.OK: "passed", State.BROKEN: "", State.NOT_REACHED: "not reached"}
