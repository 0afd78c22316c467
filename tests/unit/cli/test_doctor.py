import pytest

from fakes.programs import free_ports
from gputide.cli import run


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["edge_1"], "node"),
        (["edge-1", "--port", "70000"], "port"),
        (["edge-1", "--path", "metrics"], "path"),
        (["edge-1", "--entrance", "a:1", "--proxy", "http://b:1"], "entrance"),
    ],
)
def test_settings_that_make_no_sense_are_named(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["doctor", *arguments]) == 2
    assert message in capsys.readouterr().err


def test_a_broken_hop_ends_with_one_and_says_what_would_mend_it(
    capsys: pytest.CaptureFixture[str],
) -> None:
    (dead,) = free_ports(1)
    here = f"127.0.0.1:{dead}"
    arguments = ["doctor", "edge-1", "--entrance", here, "--ops", f"http://{here}"]
    assert run(arguments) == 1
    found = capsys.readouterr()
    assert found.err == "gputide: edge-1 cannot be scraped: broken at its entrance\n"
    shown = found.out.splitlines()
    assert shown[0].startswith("ok      name ")
    assert shown[1].startswith("BROKEN  entrance    0 of 1 answer")
    assert "-> run the gateway there" in shown[2]
    assert shown[-1].split() == ["-", "exporter", "not", "reached"]
