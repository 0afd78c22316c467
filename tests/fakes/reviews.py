"""A cluster that reviews tokens and access as the test says."""

import asyncio
from dataclasses import dataclass, field

from gputide.errors import QueryError
from gputide.kubeapi.model import JsonObject


@dataclass
class FakeReviews:
    """`tokens`: token -> user; `allowed`: verbs; `gate`: answers wait until it is set."""

    tokens: dict[str, JsonObject] = field(default_factory=dict)
    allowed: set[str] = field(default_factory=set)
    is_down: bool = False
    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: list[JsonObject] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.gate.set()

    async def token_review(self, review: JsonObject) -> JsonObject:
        """Answer, and remember what was asked."""
        await self._answering(review)
        user = self.tokens.get(review["spec"]["token"])
        status = {"authenticated": user is not None, "user": user or {}}
        return review | {"status": status}

    async def subject_access_review(self, review: JsonObject) -> JsonObject:
        """Answer, and remember what was asked."""
        await self._answering(review)
        spec = review["spec"]
        asked = spec.get("resourceAttributes") or spec["nonResourceAttributes"]
        is_allowed = asked["verb"] in self.allowed
        status = {"allowed": is_allowed, "reason": "" if is_allowed else "no role"}
        return review | {"status": status}

    async def _answering(self, review: JsonObject) -> None:
        self.asked.append(review)
        await self.gate.wait()
        if self.is_down:
            raise QueryError("the cluster", "it is down")
