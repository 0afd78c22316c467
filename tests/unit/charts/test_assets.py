import pytest

from gputide.charts import assets


def test_a_missing_file_says_what_to_run() -> None:
    with pytest.raises(assets.MissingChartsError, match="make run") as caught:
        assets._read("vendor", "no-such.js")

    assert caught.value.name == "no-such.js"


def test_script_and_style_cannot_end_their_element() -> None:
    assert "</script" not in assets.script().lower()
    assert "</style" not in assets.style().lower()
