"""A workload's name, and the pattern of its pods' names."""

import re
from dataclasses import dataclass

from gputide.errors import SettingError

_LONGEST_PREFIX = 58
"""Kubernetes cuts what stands before a pod's five random letters to this length."""

_LONGEST_HASH = 10
_RANDOM = "[a-z0-9]{5}"
_NAME = re.compile(r"[a-z0-9](?:[a-z0-9.-]{0,251}[a-z0-9])?")


@dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """What owns the pods. Raises SettingError for names that Kubernetes would not take.

    Checked names hold nothing that PromQL could mistake: letters, digits, dots and hyphens.
    """

    namespace: str
    name: str
    kind: str = "Deployment"

    def __post_init__(self) -> None:
        for setting, name in (("namespace", self.namespace), ("name", self.name)):
            if not _NAME.fullmatch(name):
                raise SettingError(setting, f"{name[:80]!r} is no Kubernetes name")
        if self.kind not in _PATTERNS:
            raise SettingError("kind", f"{self.kind!r} is not one of {', '.join(_PATTERNS)}")

    @property
    def pods_pattern(self) -> str:
        r"""RE2 pattern of the whole name of its pods, to stand in a PromQL string.

        >>> Workload(namespace="default", name="web").pods_pattern
        'web-[a-z0-9]+-[a-z0-9]{5}'
        """
        return _PATTERNS[self.kind](self.name)


def _of_deployment(name: str) -> str:
    room = _LONGEST_PREFIX - len(name) - 1  # for the hash of the template and a hyphen
    if room <= 0:
        return _literal(f"{name}-"[:_LONGEST_PREFIX]) + _RANDOM
    if room <= _LONGEST_HASH:  # too long a name: Kubernetes cuts into the hash
        return f"{_literal(name)}-[a-z0-9-]{{1,{room}}}{_RANDOM}"
    return f"{_literal(name)}-[a-z0-9]+-{_RANDOM}"


def _of_replica_set(name: str) -> str:
    return _literal(f"{name}-"[:_LONGEST_PREFIX]) + _RANDOM


def _of_stateful_set(name: str) -> str:
    return f"{_literal(name)}-[0-9]+"


def _literal(name: str) -> str:
    """Return a pattern of the name, fit for a PromQL string: its dots mean dots."""
    return name.replace(".", "[.]")


_PATTERNS = {
    "Deployment": _of_deployment,
    "ReplicaSet": _of_replica_set,
    "StatefulSet": _of_stateful_set,
    "DaemonSet": _of_replica_set,
}
