import json

import pytest

from gputide.cli.gpus import gpus
from gputide.cli.node import Simulation


def test_json_is_printed_where_it_is_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    gpus(simulation=Simulation(simulate="t4"), json=True)

    assert json.loads(capsys.readouterr().out)["devices"][0]["device"]["model_name"] == "Tesla T4"


def test_the_table_names_the_gpu(capsys: pytest.CaptureFixture[str]) -> None:
    gpus(simulation=Simulation(simulate="t4"))

    assert "Tesla T4" in capsys.readouterr().out
