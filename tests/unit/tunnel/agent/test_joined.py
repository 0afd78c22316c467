from pathlib import Path

import pytest

from gputide.errors import InputError
from gputide.tunnel.agent.joined import Joined, read_joined, save_joined


def test_what_joining_gave_is_remembered(tmp_path: Path) -> None:
    assert read_joined(tmp_path) is None
    joined = Joined(gateways=("https://gw:8443",), nodes=("edge-1=10.0.0.1",))
    save_joined(tmp_path, joined)
    assert read_joined(tmp_path) == joined
    (tmp_path / "joined.json").write_text("{")
    with pytest.raises(InputError, match=r"joined.json: is damaged"):
        read_joined(tmp_path)
