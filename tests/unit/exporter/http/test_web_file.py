import os
from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.exporter.http.web_file import WebFile

HASH = "$2y$10$" + "a" * 53


def rewrite(path: Path, text: str) -> None:
    before = path.stat().st_mtime_ns
    path.write_text(text)
    os.utime(path, ns=(before + 10**9, before + 10**9))


def test_a_changed_file_counts_from_the_next_request_on(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text("")
    file = WebFile(path)
    assert not file.config.basic_auth_users

    rewrite(path, f"basic_auth_users: {{prom: {HASH}}}")

    assert file.config.basic_auth_users == {"prom": HASH}
    assert file.tls() is None


def test_a_file_that_goes_bad_leaves_what_was_there_in_force(tmp_path: Path) -> None:
    path = tmp_path / "web.yml"
    path.write_text(f"basic_auth_users: {{prom: {HASH}}}")
    file = WebFile(path)

    rewrite(path, "basic_auth_users: [")

    assert [dict(file.config.basic_auth_users) for _ in range(3)] == [{"prom": HASH}] * 3
    assert file.reload_errors == 1


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"web\.yml: cannot be read"):
        WebFile(tmp_path / "web.yml")
