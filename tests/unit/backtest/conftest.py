"""Files written and read in one go: `read` gives the trace, `refuse` the message of the error."""

from collections.abc import Callable
from pathlib import Path

import pytest

from gputide.backtest.load.csv import CsvOptions, read_traces
from gputide.backtest.model import Trace
from gputide.errors import GputideError

Read = Callable[..., Trace]
Refuse = Callable[..., str]


@pytest.fixture
def read(tmp_path: Path) -> Read:
    def read_text(*lines: str, options: CsvOptions | None = None, name: str = "load.csv") -> Trace:
        path = tmp_path / name
        path.write_bytes("\n".join(lines).encode())
        (trace,) = read_traces(path, options)
        return trace

    return read_text


@pytest.fixture
def refuse(read: Read, tmp_path: Path) -> Refuse:
    def message(*lines: str, options: CsvOptions | None = None, name: str = "load.csv") -> str:
        with pytest.raises(GputideError) as caught:
            read(*lines, options=options, name=name)
        text = str(caught.value)
        assert caught.value.exit_code == 2
        assert len(text.splitlines()) == 1
        return text.replace(f"{tmp_path}/", "")

    return message
