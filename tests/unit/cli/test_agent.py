from pathlib import Path

import pytest

from gputide.cli import run
from gputide.cli.agent import serve
from gputide.errors import GputideError
from gputide.tunnel.settings import AgentSettings


def join(folder: Path, *arguments: str, url: str = "https://127.0.0.1:1") -> int:
    return run(["agent", "join", url, "--directory", str(folder / "agent"), *arguments])


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "token: give either --token or --token-file"),
        (["--token", "x", "--token-file", "y"], "token: give either --token or --token-file"),
        (["--token-file", "none"], "none"),
        (["--token", "nonsense"], "this is no join token"),
    ],
)
def test_a_wrong_token_is_one_line_and_nothing_is_made(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert join(tmp_path, *arguments) == 2

    found = capsys.readouterr()
    assert words in found.err
    assert found.err.count("\n") == 1
    assert not (tmp_path / "agent").exists()


@pytest.mark.parametrize(
    "url", ["http://gateway:1", "https://", "ftp://gateway", "https://gw:99999"]
)
def test_a_gateways_address_that_cannot_be_right_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], url: str
) -> None:
    assert join(tmp_path, "--token", "x", url=url) == 2

    assert "address" in capsys.readouterr().err
    assert not (tmp_path / "agent").exists()


def test_an_agent_that_never_joined_is_told_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(GputideError, match="name the gateways to dial") as caught:
        serve(AgentSettings(directory=tmp_path / "none"))

    assert caught.value.exit_code == 2
