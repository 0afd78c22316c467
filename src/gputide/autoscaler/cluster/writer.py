"""Writes of the controller: scale, status, events; each counted, each failure told."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import structlog

from gputide.autoscaler.cluster.wire import is_watched
from gputide.autoscaler.model import Key, Outcome, Subject
from gputide.autoscaler.status.build import time_text
from gputide.autoscaler.status.events import Note
from gputide.autoscaler.status.spam import Spared
from gputide.clock import Clock
from gputide.kube.client import KubeClient
from gputide.kube.errors import ConflictError, KubeError, NotFoundError
from gputide.kube.model import AUTOSCALERS, DEPLOYMENTS, EVENTS, REPLICA_SETS, STATEFUL_SETS

log = structlog.stdlib.get_logger()

WATCHED = {kind.kind: kind for kind in (DEPLOYMENTS, STATEFUL_SETS, REPLICA_SETS)}
MAX_EVENTS = 5000
SAME_EVENT_SECONDS = 600.0


@dataclass(slots=True)
class _Told:
    """An event as it stands on the server."""

    name: str
    count: int
    first: str
    at_seconds: float


@dataclass(slots=True)
class Writer:
    """One API server, written as `component`."""

    client: KubeClient
    clock: Clock
    component: str = "gputide-autoscaler"
    writes: Counter[str] = field(default_factory=Counter)
    """By what was written and how it ended: `scale_ok`, `status_conflict` ..."""

    _events: dict[tuple[str, str, str], _Told] = field(default_factory=dict)
    _spared: Spared = field(default_factory=Spared)

    async def scale(self, subject: Subject, outcome: Outcome, *, replicas: int) -> None:
        """Write the scale subresource, based on the count that was decided on.

        ConflictError: somebody changed it meanwhile, so it is decided anew. Raises KubeError.
        """
        ref = subject.autoscaler.target
        if ref is None:
            raise NotFoundError(str(subject.key), "names no target")
        kind = (
            WATCHED[ref.kind]
            if is_watched(ref)
            else await self.client.resource_for(ref.api_version, ref.kind)
        )
        namespace = subject.key.namespace
        try:
            scale = await self.client.get(kind, namespace, ref.name, subresource="scale")
            found = int((scale.get("spec") or {}).get("replicas") or 0)
            if found != outcome.current_replicas:
                text = f"has {found} replicas, not {outcome.current_replicas} as decided on"
                raise ConflictError(f"{ref.kind} {namespace}/{ref.name}", text, code=409)
            scale["spec"] = {**(scale.get("spec") or {}), "replicas": replicas}
            await self.client.replace(kind, namespace, ref.name, scale, subresource="scale")
        except KubeError as error:
            self.writes[f"scale_{_word(error)}"] += 1
            raise
        self.writes["scale_ok"] += 1

    async def status(self, key: Key, status: Mapping[str, Any]) -> Mapping[str, Any] | None:
        """Write a status, and nothing else; return it as the server has it now, None: it failed."""
        try:
            answer = await self.client.patch(
                AUTOSCALERS,
                key.namespace,
                key.name,
                {"status": _with_nulls(status)},
                subresource="status",
                field_manager=self.component,
            )
        except NotFoundError:
            return None  # deleted meanwhile: there is nobody to tell
        except KubeError as error:
            self.writes[f"status_{_word(error)}"] += 1
            log.warning("status not written", ahpa=str(key), error=str(error))
            return None
        self.writes["status_ok"] += 1
        found: Mapping[str, Any] = answer.get("status") or {}
        return found

    async def event(self, key: Key, uid: str, note: Note) -> None:
        """Tell an event of an autoscaler; one that was told lately is counted up instead.

        One that has too many of them is spared the rest, as client-go does it.
        """
        now_seconds = self.clock.now_seconds()
        if not self._spared.may_tell(uid, now_seconds=now_seconds):
            self.writes["event_spared"] += 1
            return
        place = (uid, note.reason, note.text)
        told = self._events.get(place)
        now_text = time_text(now_seconds)
        try:
            if told is not None and now_seconds - told.at_seconds < SAME_EVENT_SECONDS:
                told.count, told.at_seconds = told.count + 1, now_seconds
                patch = {"count": told.count, "lastTimestamp": now_text}
                await self.client.patch(EVENTS, key.namespace, told.name, patch)
            else:
                event = _event(key, uid, note, now_text, self.component)
                made = await self.client.create(EVENTS, key.namespace, event)
                name = str((made.get("metadata") or {}).get("name") or "")
                self._keep(place, _Told(name, 1, now_text, now_seconds))
        except KubeError as error:
            self.writes[f"event_{_word(error)}"] += 1
            log.info("event not written", ahpa=str(key), error=str(error))
            self._events.pop(place, None)
            return
        self.writes["event_ok"] += 1

    def _keep(self, place: tuple[str, str, str], told: _Told) -> None:
        self._events[place] = told
        while len(self._events) > MAX_EVENTS:
            self._events.pop(next(iter(self._events)))


def _event(key: Key, uid: str, note: Note, now_text: str, component: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": f"{key.name}.", "namespace": key.namespace},
        "involvedObject": {
            "apiVersion": AUTOSCALERS.api_version,
            "kind": AUTOSCALERS.kind,
            "namespace": key.namespace,
            "name": key.name,
            "uid": uid,
        },
        "type": note.type,
        "reason": note.reason,
        "message": note.text,
        "source": {"component": component},
        "reportingComponent": component,
        "reportingInstance": component,
        "count": 1,
        "firstTimestamp": now_text,
        "lastTimestamp": now_text,
    }


STATUS_FIELDS = (
    *("metric", "target", "current", "demandState", "podsWithSamples", "forecast", "bound"),
    *("currentReplicas", "desiredReplicas", "proactiveReplicas", "reactiveReplicas"),
    *("periodicity", "coverage", "reason", "targetRef", "lastScaleTime", "timeZone"),
)


def _with_nulls(status: Mapping[str, Any]) -> dict[str, Any]:
    """Return a merge patch that also removes what is not known any more."""
    return {name: None for name in STATUS_FIELDS if name not in status} | dict(status)


def _word(error: KubeError) -> str:
    return {409: "conflict", 429: "busy", 403: "forbidden", 404: "gone"}.get(error.code, "failed")
