"""What the forecast endpoint may answer."""

import json

import msgspec
import pytest

from fakes.forecast_endpoint import detail, summary
from gputide.metricsapi.predictions.wire import Detail, SummaryList


def test_a_newer_autoscaler_may_say_more() -> None:
    found = msgspec.json.decode(
        json.dumps({"items": [summary(news=1)], "also": 2}), type=SummaryList
    )
    assert found.items[0].published_replicas == 12


@pytest.mark.parametrize("part", ["past", "ahead"])
def test_columns_have_one_length_and_time_goes_on(part: str) -> None:
    good = detail()
    short = good[part] | {"pods": good[part]["pods"][1:]}
    still = good[part] | {"stepSeconds": 0}

    for ruined, words in ((short, "different lengths"), (still, "stepSeconds must be above 0")):
        with pytest.raises(msgspec.ValidationError, match=words):
            msgspec.convert(good | {part: ruined}, Detail)
