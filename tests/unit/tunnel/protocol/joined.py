"""Two sessions joined by a wire that tests cut and delay as they like."""

from dataclasses import dataclass, field

from gputide.tunnel.protocol import Event, Hello, Limits, Session, Side


@dataclass
class End:
    session: Session
    inbox: bytearray = field(default_factory=bytearray)
    events: list[Event] = field(default_factory=list)

    def of(self, kind: type) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]


class Joined:
    """An agent and a gateway; `now_seconds` is turned by hand."""

    def __init__(self, limits: Limits | None = None, *, agent: Hello | None = None) -> None:
        self.now_seconds = 0.0
        self.agent = End(Session(Side.AGENT, agent or Hello(), limits, now_seconds=0))
        self.gateway = End(Session(Side.GATEWAY, Hello(), limits, now_seconds=0))

    def other(self, end: End) -> End:
        return self.gateway if end is self.agent else self.agent

    def send(self, end: End, most: int = 262_144) -> int:
        data = end.session.data_to_send(most)
        self.other(end).inbox += data
        return len(data)

    def deliver(self, end: End, size: int) -> int:
        chunk = bytes(end.inbox[:size])
        del end.inbox[:size]
        if chunk:
            end.events += end.session.receive(chunk, now_seconds=self.now_seconds)
        return len(chunk)

    def settle(self) -> "Joined":
        """Move bytes until nothing moves any more."""
        moved = 1
        while moved:
            moved = sum(self.send(end) for end in (self.agent, self.gateway))
            moved += sum(self.deliver(end, 2**30) for end in (self.agent, self.gateway))
        return self
