"""Serves custom kinds: CustomResourceDefinitions that are stored become kinds of the server."""

import asyncio
from collections.abc import Sequence
from typing import Any, Protocol

from gputide.clock import Clock, utc_from_unix
from gputide.kubeapi.crd import kind_from_crd, rules_of
from gputide.kubeapi.errors import StatusError
from gputide.kubeapi.follow import RETRY_SECONDS, follow
from gputide.kubeapi.kinds.registration import DEFINITION
from gputide.kubeapi.model import EventType, JsonObject, Kind, Selection, WatchEvent
from gputide.kubeapi.patch.ownership import rfc3339
from gputide.kubeapi.ports import Storage
from gputide.kubeapi.structural import Cel

FINALIZER = "customresourcecleanup.apiextensions.k8s.io"
EVERYTHING = Selection()


class Kinds(Protocol):
    """The kinds that the server serves now: its registry."""

    def kinds(self) -> tuple[Kind, ...]:
        """Return them."""

    def add_kind(self, kind: Kind) -> None:
        """Serve one, or its new form."""

    def remove_kind(self, kind: Kind) -> None:
        """Serve one no more."""


class Definitions:
    """Keeps the registry and the status of each definition in step with what is stored."""

    def __init__(
        self, storage: Storage, registry: Kinds, clock: Clock, *, cel: Cel | None = None
    ) -> None:
        self._storage = storage
        self._registry = registry
        self._clock = clock
        self._cel = cel
        self._served: dict[str, int] = {}
        """Name of a definition -> the generation of it that is served."""

        self._clearing: dict[str, asyncio.Task[None]] = {}

    async def load(self) -> None:
        """Register all that is stored; before the server answers."""
        for crd in (await self._storage.list(DEFINITION, EVERYTHING)).items:
            await self._take(crd)

    async def run(self) -> None:
        """Follow the definitions until cancelled."""
        async with asyncio.TaskGroup() as tasks:

            async def take(event: WatchEvent) -> None:
                if event.type is EventType.DELETED:
                    self._serve(event.object, ())
                else:
                    await self._take(event.object, tasks)

            await follow(self._storage, DEFINITION, self._clock, take)

    async def _take(self, crd: JsonObject, tasks: asyncio.TaskGroup | None = None) -> None:
        name = crd["metadata"]["name"]
        if "deletionTimestamp" in crd["metadata"]:
            is_ours = FINALIZER in (crd["metadata"].get("finalizers") or [])
            if is_ours and tasks is not None and name not in self._clearing:
                task = tasks.create_task(self._clear(crd))
                self._clearing[name] = task
                task.add_done_callback(lambda _: self._clearing.pop(name, None))
            return
        try:
            problem = await self._clash(crd)
            kinds = kind_from_crd(crd, cel=self._cel)
        except StatusError as error:
            await self._tell(crd, [_condition("Established", "InvalidDefinition", str(error))])
            return
        if problem:
            await self._tell(crd, [_condition("NamesAccepted", "NamesConflict", problem)])
            return
        self._serve(crd, kinds)
        await self._tell(crd, self._accepted(crd))

    def _serve(self, crd: JsonObject, kinds: Sequence[Kind]) -> None:
        """Make the registry serve these versions of the definition and no others."""
        metadata, spec = crd["metadata"], crd["spec"]
        if kinds and self._served.get(metadata["name"]) == metadata["generation"]:
            return
        versions = {kind.version for kind in kinds}
        for kind in self._registry.kinds():
            is_ours = (kind.group, kind.plural) == (spec["group"], spec["names"]["plural"])
            if is_ours and kind.version not in versions:
                self._registry.remove_kind(kind)
        for kind in kinds:
            self._registry.add_kind(kind)
        self._served[metadata["name"]] = metadata["generation"] if kinds else -1

    def _accepted(self, crd: JsonObject) -> list[JsonObject]:
        found = [
            _condition("NamesAccepted", "NoConflicts", "no conflicts found", is_true=True),
            _condition(
                "Established", "InitialNamesAccepted", "the initial names have been accepted",
                is_true=True,
            ),
        ]  # fmt: skip
        rules = rules_of(crd)
        if rules and self._cel is None:
            listed = "; ".join(f"{one.path or '.'}: {one.rule}" for one in rules[:20])
            message = f"{len(rules)} CEL rules are not evaluated: {listed}"
            found.append(_condition("RulesEvaluated", "NoEvaluator", message))
        return found

    async def _clash(self, crd: JsonObject) -> str:
        """Return which name another definition of the group has already, or ""."""
        mine = _names(crd)
        for other in (await self._storage.list(DEFINITION, EVERYTHING)).items:
            is_other = other["metadata"]["name"] != crd["metadata"]["name"]
            is_older = _is_accepted(other)
            if is_other and is_older and other["spec"]["group"] == crd["spec"]["group"]:
                shared = sorted(mine & _names(other))
                if shared:
                    return f"{shared[0]!r} is already in use by {other['metadata']['name']}"
        return ""

    async def _tell(self, crd: JsonObject, conditions: list[JsonObject]) -> None:
        """Write the status, where it is another than before."""
        time = rfc3339(utc_from_unix(self._clock.now_seconds()))

        def change(obj: JsonObject) -> JsonObject:
            is_accepted = any(
                one["type"] == "Established" and one["status"] == "True" for one in conditions
            )
            spec, status = obj["spec"], obj.get("status") or {}
            stored = [one["name"] for one in spec["versions"] if one.get("storage")]
            before = status.get("storedVersions") or []
            written = status | {
                "acceptedNames": spec["names"] if is_accepted else status.get("acceptedNames", {}),
                "conditions": _merged(status.get("conditions") or [], conditions, time),
                "storedVersions": before + [one for one in stored if one not in before],
            }
            metadata = obj["metadata"]
            finalizers = metadata.get("finalizers") or []
            if is_accepted and FINALIZER not in finalizers and "deletionTimestamp" not in metadata:
                metadata = metadata | {"finalizers": [*finalizers, FINALIZER]}
            return obj | {"metadata": metadata, "status": written}

        try:
            await self._storage.update(DEFINITION, "", crd["metadata"]["name"], change)
        except StatusError as error:
            if error.code not in (404, 409):
                raise

    async def _clear(self, crd: JsonObject) -> None:
        """Delete all objects of a definition under deletion, then let it go."""
        await self._tell(
            crd,
            [
                _condition(
                    "Terminating",
                    "InstanceDeletionInProgress",
                    "objects are being deleted",
                    is_true=True,
                )
            ],
        )
        kinds = kind_from_crd(crd)
        while kinds and await self._delete_objects(kinds[0]):
            await self._clock.sleep(RETRY_SECONDS)
        self._serve(crd, ())

        def freed(obj: JsonObject) -> JsonObject:
            finalizers = obj["metadata"].get("finalizers") or []
            kept = [one for one in finalizers if one != FINALIZER]
            return obj | {"metadata": obj["metadata"] | {"finalizers": kept}}

        try:
            await self._storage.update(DEFINITION, "", crd["metadata"]["name"], freed)
        except StatusError as error:
            if error.code != 404:
                raise

    async def _delete_objects(self, kind: Kind) -> int:
        """Delete what there is; return how many wait for their finalizers."""
        for one in (await self._storage.list(kind, EVERYTHING)).items:
            metadata = one["metadata"]
            try:
                await self._storage.delete(kind, metadata.get("namespace", ""), metadata["name"])
            except StatusError as error:
                if error.code != 404:
                    raise
        return len((await self._storage.list(kind, EVERYTHING)).items)


def _condition(kind: str, reason: str, message: str, *, is_true: bool = False) -> JsonObject:
    status = "True" if is_true else "False"
    return {"type": kind, "status": status, "reason": reason, "message": message}


def _merged(before: list[Any], now: list[JsonObject], time: str) -> list[JsonObject]:
    """Return the conditions, each with the time of its last change of status."""
    held = {one.get("type"): one for one in before}
    for one in now:
        last = held.get(one["type"]) or {}
        is_same = last.get("status") == one["status"]
        since = last.get("lastTransitionTime", time) if is_same else time
        held[one["type"]] = one | {"lastTransitionTime": since}
    if not any(one["type"] == "RulesEvaluated" for one in now):
        held.pop("RulesEvaluated", None)
    return list(held.values())


def _names(crd: JsonObject) -> set[str]:
    names = crd["spec"]["names"]
    kind = str(names["kind"])
    single = names.get("singular") or kind.lower()
    return {kind, names["plural"], single, *(names.get("shortNames") or ())}


def _is_accepted(crd: JsonObject) -> bool:
    conditions = (crd.get("status") or {}).get("conditions") or []
    return any(
        one.get("type") == "Established" and one.get("status") == "True" for one in conditions
    )
