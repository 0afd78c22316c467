import json

import pytest
import structlog

from gputide.cli.logs import LogFormat, configure_logs


@pytest.mark.parametrize("log_format", ["text", "json"])
def test_a_line_an_event_goes_to_standard_error(
    log_format: LogFormat, capsys: pytest.CaptureFixture[str]
) -> None:
    configure_logs(log_format)
    try:
        structlog.get_logger().info("serving", port=9400)
    finally:
        structlog.reset_defaults()

    out, err = capsys.readouterr()
    assert (out, err.count("\n")) == ("", 1)
    if log_format == "json":
        assert json.loads(err)["event"] == "serving"
    else:
        assert "event=serving port=9400" in err
