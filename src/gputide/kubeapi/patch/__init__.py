"""Patches of objects, as pure functions: merge, JSON, strategic merge, server-side apply."""

from gputide.kubeapi.patch.apply import apply
from gputide.kubeapi.patch.merge import merge
from gputide.kubeapi.patch.operations import json_patch
from gputide.kubeapi.patch.ownership import record_update
from gputide.kubeapi.patch.strategic import strategic

__all__ = ["apply", "json_patch", "merge", "record_update", "strategic"]
