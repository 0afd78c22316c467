"""The observer's page."""

from typing import Any

import msgspec
import numpy as np
import pytest

from fakes.forecast_endpoint import MINUTES, NOW, detail
from gputide.metricsapi.predictions.page import forecasted, observer_page
from gputide.metricsapi.predictions.wire import Detail

MAX_BYTES = 1_500_000


def made(**changes: Any) -> Detail:  # noqa: ANN401 any JSON
    return msgspec.convert(detail(**changes), Detail)


def test_the_past_is_followed_by_the_hours_to_come_and_utilization_is_in_percent() -> None:
    charted = forecasted(made())

    assert charted.unix_seconds[MINUTES - 1 : MINUTES + 1].tolist() == [NOW - 60, NOW]
    assert len(charted.unix_seconds) == MINUTES + 288
    assert np.isnan(charted.demand[0])
    assert np.isnan(charted.demand[MINUTES:]).all()
    assert charted.predicted_demand[-1] == pytest.approx(150)
    assert (charted.unit, charted.predicted_pods[-1]) == ("%", 8)


def test_other_metrics_keep_their_unit() -> None:
    charted = forecasted(made(isUtilization=False, unit="req/s"))

    assert (charted.unit, charted.predicted_demand[-1]) == ("req/s", 1.5)


def test_hours_that_overlap_the_past_are_drawn_once() -> None:
    ahead = detail()["ahead"] | {"startSeconds": NOW - 600}
    charted = forecasted(made(ahead=ahead))

    assert (np.diff(charted.unix_seconds) > 0).all()
    assert len(charted.unix_seconds) == MINUTES + 286


def test_the_page_tells_charts_chain_verdict_and_bounds_and_escapes_what_others_wrote() -> None:
    html = observer_page(made())

    for words in (
        "Predict GPU Resource Observer",
        "Predict POD Observer",
        "A day was found",
        "2.345 at target 0.2 needs 12 pods",
        "spec.instanceBounds[0].bounds[1]",
        "Asia/Shanghai",
        "189 %",
        "234.5 %",
    ):
        assert words in html
    assert "<b>here</b>" not in html
    assert "&lt;b&gt;here" in html


def test_the_page_speaks_chinese() -> None:
    html = observer_page(made(), "zh")

    assert 'lang="zh-Hans"' in html
    assert "决策依据" in html


def test_a_month_of_minutes_stays_below_the_size_that_kubectl_takes_well() -> None:
    count = 30 * 1440
    rng = np.random.default_rng(1)
    values = rng.random(count).tolist()
    past = {
        "startSeconds": NOW - count * 60,
        "stepSeconds": 60,
        "demand": values,
        "predicted": values,
        "pods": values,
        "predictedPods": values,
    }
    html = observer_page(made(past=past))

    assert len(html.encode()) < MAX_BYTES


def test_a_workload_without_history_says_what_is_missing() -> None:
    empty: dict[str, Any] = {
        "startSeconds": NOW,
        "stepSeconds": 60,
        "demand": [],
        "predicted": [],
        "pods": [],
        "predictedPods": [],
    }
    changes = {"demand": None, "forecastDemand": None, "publishedReplicas": None, "steps": []}
    text = "Prometheus cannot be reached"
    html = observer_page(made(past=empty, ahead=None, verdict=None, historyText=text, **changes))

    assert text in html
    assert "unknown" in html
