"""Objects in one SQLite file, with revisions, watches and Kubernetes' rules of writing."""

from gputide.kubeapi.storage.sqlite import SqliteStorage

__all__ = ["SqliteStorage"]
