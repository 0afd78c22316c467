"""Opens the database file: schema, version, permissions, and one process at a time."""

import os
import sqlite3
from pathlib import Path

from gputide.errors import InputError

VERSION = 1
IN_MEMORY = ":memory:"

_SCHEMA = """
CREATE TABLE objects (
  grp TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  uid TEXT NOT NULL, obj BLOB NOT NULL,
  PRIMARY KEY (grp, plural, namespace, name)
);
CREATE UNIQUE INDEX objects_by_uid ON objects (uid);
CREATE INDEX objects_by_namespace ON objects (namespace, grp, plural, name);
CREATE TABLE owners (
  owner_uid TEXT NOT NULL,
  grp TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  PRIMARY KEY (owner_uid, grp, plural, namespace, name)
) WITHOUT ROWID;
CREATE INDEX owners_by_object ON owners (grp, plural, namespace, name);
CREATE TABLE events (
  revision INTEGER PRIMARY KEY, type TEXT NOT NULL,
  grp TEXT NOT NULL, plural TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
  obj BLOB NOT NULL, previous BLOB, at_seconds REAL NOT NULL
);
CREATE TABLE counters (only_row INTEGER PRIMARY KEY CHECK (only_row = 1),
  revision INTEGER NOT NULL, compacted INTEGER NOT NULL);
INSERT INTO counters VALUES (1, 1, 1);
"""


def opened(path: Path | str) -> sqlite3.Connection:
    """Return a connection to the file (":memory:": none), made with mode 0600 where it is absent.

    Raise InputError where the file is no database of ours, of a newer version, or in use.
    """
    try:
        if str(path) != IN_MEMORY:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, 0o600))
        connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    except (OSError, sqlite3.Error) as error:
        raise InputError(str(path), f"cannot be opened as a database: {error}") from error
    try:
        _prepare(connection, str(path))
    except sqlite3.OperationalError as error:
        connection.close()
        hint = "; does another process hold it?" if "locked" in str(error) else ""
        raise InputError(str(path), f"{error}{hint}") from error
    except sqlite3.DatabaseError as error:
        connection.close()
        raise InputError(str(path), f"is no database: {error}") from error
    except InputError:
        connection.close()
        raise
    return connection


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    connection.execute("PRAGMA busy_timeout = 1000")
    connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # a second process is told so at once
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")  # an acknowledged write survives a power cut
    connection.execute("BEGIN EXCLUSIVE")
    version = connection.execute("PRAGMA user_version").fetchone()[0]
    if version not in (0, VERSION):
        raise InputError(path, f"has schema version {version}; this release knows {VERSION}")
    if version == 0:
        if connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
            raise InputError(path, "is a database of something else")
        for statement in _SCHEMA.split(";\n"):
            connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
    connection.execute("COMMIT")
