"""How a rules file is followed."""

import os
from pathlib import Path

import pytest

from fakes.clock import FakeClock
from gputide.errors import InputError
from gputide.metricsapi.reload import MAX_BYTES, RulesFile


def parse(text: str, place: str) -> str:
    if "bad" in text:
        raise InputError(place, "says bad")
    return text.strip()


def changed(path: Path, text: str) -> None:
    """Write as a ConfigMap is written: beside, and moved into place."""
    beside = path.with_suffix(".new")
    beside.write_text(text)
    beside.replace(path)


def test_a_new_file_is_taken_up_and_an_unchanged_one_is_not_read(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("one")
    rules = RulesFile(path, parse)

    assert (rules.rules, rules.poll()) == ("one", False)
    changed(path, "two")
    assert (rules.poll(), rules.rules, rules.reloads) == (True, "two", 1)
    assert rules.poll() is False


def test_a_symlink_that_is_swapped_counts_as_a_change(tmp_path: Path) -> None:
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "rules.yaml").write_text(name)
        os.utime(tmp_path / name / "rules.yaml", (1, 1))
    (tmp_path / "current").symlink_to("one")
    rules = RulesFile(tmp_path / "current/rules.yaml", parse)
    (tmp_path / "next").symlink_to("two")
    (tmp_path / "next").replace(tmp_path / "current")

    assert (rules.poll(), rules.rules) == (True, "two")


@pytest.mark.parametrize("ruin", ["bad", "gone", "binary", "large"])
def test_a_bad_file_keeps_the_old_rules_and_says_so_until_it_is_mended(
    tmp_path: Path, ruin: str
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("one")
    rules = RulesFile(path, parse)
    match ruin:
        case "gone":
            path.unlink()
        case "binary":
            path.write_bytes(b"\xff\xfe")
        case "large":
            path.write_text("x" * (MAX_BYTES + 1))
        case _:
            changed(path, "bad")

    assert [rules.poll(), rules.poll()] == [False, False]
    assert (rules.rules, rules.failures) == ("one", 1)
    assert str(path) in rules.problem
    changed(path, "mended")
    assert (rules.poll(), rules.rules, rules.problem) == (True, "mended", "")


def test_a_file_that_is_bad_at_the_start_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot be read"):
        RulesFile(tmp_path / "absent", parse)


async def test_whoever_follows_hears_of_new_rules(tmp_path: Path) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text("one")
    rules = RulesFile(path, parse)
    changed(path, "two")
    clock, seen = FakeClock(), list[str]()

    async def hear(new: str) -> None:
        seen.append(new)
        raise InputError("test", "enough")

    with pytest.raises(InputError, match="enough"):
        await rules.follow(clock, hear)
    assert (seen, clock.slept) == (["two"], [2.0])
