"""Discovery's documents as bytes, made anew when something changed."""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import msgspec

from gputide.kubeapi.discovery import aggregated, legacy
from gputide.kubeapi.model import JsonObject
from gputide.kubeapi.negotiate import Accepted, Form
from gputide.kubeapi.openapi import group_document, index
from gputide.kubeapi.registry import GroupVersion, Registry


@dataclass(frozen=True, slots=True)
class Document:
    """One document, encoded."""

    body: bytes
    etag: str


def document(content: JsonObject) -> Document:
    """Return a document with a tag that changes when it does."""
    body = msgspec.json.encode(content)
    return Document(body, hashlib.sha256(body).hexdigest()[:32].upper())


class Discovery:
    """Every document that tells what a registry serves; None where there is nothing at a path."""

    def __init__(self, registry: Registry) -> None:
        self._registry = registry
        self._made: dict[tuple[str, ...], Document | None] = {}
        self._state: Sequence[object] = ()

    def core(self, accepted: Accepted, address: str) -> Document | None:
        """Return /api."""
        versions = self._registry.groups().get("", ())
        if accepted.form is Form.DISCOVERY:
            groups = {"": versions} if versions else {}
            return self._kept(
                ("api", accepted.version), lambda: aggregated.aggregated(groups, accepted.version)
            )
        if not versions:
            return None
        return document(legacy.core_versions(versions, address))

    def groups(self, accepted: Accepted) -> Document | None:
        """Return /apis."""
        groups = {name: one for name, one in self._registry.groups().items() if name}
        if accepted.form is Form.DISCOVERY:
            return self._kept(
                ("apis", accepted.version), lambda: aggregated.aggregated(groups, accepted.version)
            )
        return self._kept(("apis",), lambda: legacy.group_list(groups))

    def group(self, name: str) -> Document | None:
        """Return /apis/{group}."""
        versions = self._registry.groups().get(name)
        return document(legacy.one_group(name, versions)) if name and versions else None

    def resources(self, group: str, version: str) -> Document | None:
        """Return /apis/{group}/{version}, or /api/{version} for the group ""."""
        found = self._registry.find(group, version)
        if found is None:
            return None
        return self._kept(("resources", group, version), lambda: legacy.resource_list(found))

    def openapi_index(self) -> Document | None:
        """Return /openapi/v3."""
        return self._kept(("openapi",), lambda: index(self._openapi_tags()))

    def openapi(self, group: str, version: str) -> Document | None:
        """Return /openapi/v3/apis/{group}/{version}, or /openapi/v3/api/{version}."""
        found = self._registry.find(group, version)
        if found is None:
            return None
        return self._kept(("openapi", group, version), lambda: group_document(found))

    def _openapi_tags(self) -> dict[str, str]:
        tags = {}
        for group, versions in self._registry.groups().items():
            for one in versions:
                found = self.openapi(group, one.version)
                prefix = f"apis/{group}" if group else "api"
                tags[f"{prefix}/{one.version}"] = found.etag if found else ""
        return tags

    def _kept(self, key: tuple[str, ...], make: Callable[[], JsonObject]) -> Document | None:
        state = [self._registry.revision, *_answers(self._registry)]
        if len(state) != len(self._state) or any(
            new is not old and new != old for new, old in zip(state, self._state, strict=True)
        ):
            self._made.clear()
            self._state = state
        if key not in self._made:
            self._made[key] = document(make())
        return self._made[key]


def _answers(registry: Registry) -> list[object]:
    """Return what computed and proxied groups say at the moment."""
    return [
        answer
        for versions in registry.groups().values()
        for one in versions
        for answer in _answers_of(one)
    ]


def _answers_of(group: GroupVersion) -> list[object]:
    found: list[object] = []
    if group.computed is not None:
        found.append(group.computed.resources())
    if group.proxied is not None:
        found.append(group.proxied.resource_list())
    return found
