import os
from pathlib import Path

import pytest

from gputide.backtest.report.files import check_writable, write_whole
from gputide.errors import InputError


def test_a_file_is_written_whole_and_nothing_else_is_left(tmp_path: Path) -> None:
    write_whole(tmp_path / "report.html", "text \N{SNOWMAN}")

    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text(encoding="utf-8") == "text \N{SNOWMAN}"


def test_an_older_file_is_replaced(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")

    write_whole(tmp_path / "report.html", "new")

    assert (tmp_path / "report.html").read_text() == "new"


def test_a_failure_leaves_the_older_file_and_no_part(tmp_path: Path) -> None:
    (tmp_path / "report.html").write_text("old")

    with pytest.raises(UnicodeEncodeError):
        write_whole(tmp_path / "report.html", "half \udc80")

    assert [file.name for file in tmp_path.iterdir()] == ["report.html"]
    assert (tmp_path / "report.html").read_text() == "old"


def test_a_link_keeps_pointing_where_it_points(tmp_path: Path) -> None:
    (tmp_path / "real.html").write_text("old")
    (tmp_path / "link.html").symlink_to(tmp_path / "real.html")

    write_whole(tmp_path / "link.html", "new")

    assert (tmp_path / "link.html").is_symlink()
    assert (tmp_path / "real.html").read_text() == "new"


def test_others_may_read_it_as_the_umask_says(tmp_path: Path) -> None:
    before = os.umask(0o022)
    try:
        write_whole(tmp_path / "report.html", "text")
    finally:
        os.umask(before)

    assert (tmp_path / "report.html").stat().st_mode & 0o777 == 0o644


def test_a_pipe_is_written_straight() -> None:
    read, write = os.pipe()
    try:
        write_whole(Path(f"/dev/fd/{write}"), "text")
        assert os.read(read, 100) == b"text"
    finally:
        os.close(read)
        os.close(write)


def test_what_standard_output_leads_to_is_not_replaced(tmp_path: Path) -> None:
    log = tmp_path / "log"
    log.write_text("before\n")
    with log.open("a") as stdout:
        write_whole(Path(f"/dev/fd/{stdout.fileno()}"), "report\n")

    assert log.read_text() == "before\nreport\n"


@pytest.mark.parametrize(
    ("path", "problem"),
    [(".", "is a directory"), ("no/such/report.html", "no such folder")],
)
def test_where_nothing_can_be_written_one_line_says_so(
    tmp_path: Path, path: str, problem: str
) -> None:
    with pytest.raises(InputError, match=problem):
        check_writable(tmp_path / path)
    with pytest.raises(InputError, match=problem):
        write_whole(tmp_path / path, "text")
