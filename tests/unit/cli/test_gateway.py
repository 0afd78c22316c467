from pathlib import Path

import pytest

from gputide.cli import run
from gputide.tunnel.identity.revoked import read_revoked
from gputide.tunnel.identity.tokens import parse_token


def create(folder: Path, *arguments: str) -> int:
    command = ["gateway", "token", "create", "--directory", str(folder)]
    return run([*command, "--nodes", "edge-gpu-*", *arguments])


def revoke(folder: Path, *arguments: str) -> int:
    return run(["gateway", "revoke", *arguments, "--directory", str(folder)])


def test_a_token_is_printed_alone_and_for_a_person_beside_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert create(tmp_path / "gateway", "--uses", "3") == 0

    found = capsys.readouterr()
    assert parse_token(found.out.strip())
    assert "for edge-gpu-*; 3 uses until" in found.err
    assert (tmp_path / "gateway").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--ttl", "0s"], "ttl: must be above 0 and at most 30d"),
        (["--ttl", "31d"], "ttl: must be above 0 and at most 30d"),
        (["--ttl", "soon"], "ttl: 'soon' is no span of time"),
        (["--nodes", "not a node!"], "not a node!"),
    ],
)
def test_a_token_that_makes_no_sense_is_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert create(tmp_path / "gateway", *arguments) == 2

    found = capsys.readouterr()
    assert found.out == ""
    assert words in found.err


def test_an_agent_or_a_serial_is_revoked(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert revoke(tmp_path, "edge-1", "--why", "stolen") == 0
    assert revoke(tmp_path, "--serial", "0x00AF") == 0

    assert capsys.readouterr().out == "revoked edge-1\nrevoked serial af\n"
    found = read_revoked(tmp_path)
    assert [(one.agent, one.serial, one.why) for one in found] == [
        ("edge-1", "", "stolen"),
        ("", "af", ""),
    ]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name an agent, or give --serial"),
        (["edge-1", "--serial", "af"], "name an agent, or give --serial"),
        (["--serial", "xyz"], "'xyz' is not hexadecimal"),
    ],
)
def test_a_revocation_names_one_thing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert revoke(tmp_path, *arguments) == 2

    assert words in capsys.readouterr().err
    assert read_revoked(tmp_path) == ()


def test_revoking_where_no_gateway_is_says_so(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert revoke(tmp_path / "none", "edge-1") == 2

    assert "none is not there" in capsys.readouterr().err
