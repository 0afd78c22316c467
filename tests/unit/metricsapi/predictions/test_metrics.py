"""Forecasts as external metrics."""

from typing import Any

import pytest

from fakes.clock import FakeClock
from fakes.forecast_endpoint import NOW, detail
from fakes.metric_sources import FakeForecasts
from gputide.kubeapi.errors import StatusError
from gputide.metricsapi.ports import ExternalAsk, Measured
from gputide.metricsapi.predictions.metrics import ForecastMetrics


def source(*details: dict[str, Any]) -> ForecastMetrics:
    return ForecastMetrics(
        forecasts=FakeForecasts(list(details)), clock=FakeClock(NOW), quantity=lambda v: f"{v:g}"
    )


def ask(metric: str, selector: str = "") -> ExternalAsk:
    return ExternalAsk(namespace="default", metric=metric, selector=selector)


@pytest.mark.parametrize(
    ("metric", "value"),
    [
        ("gputide_forecast_demand", "2.345"),
        ("gputide_forecast_replicas", "12"),
        ("gputide_demand", "1.89"),
    ],
)
async def test_each_number_is_a_metric_with_the_time_of_its_round(metric: str, value: str) -> None:
    found = await source(detail()).read(ask(metric, "ahpa=fib-gpu,metric=gpu"))

    labels = (("ahpa", "fib-gpu"), ("metric", "gpu"))
    assert found == [Measured(value=value, at_seconds=NOW - 20, labels=labels)]


async def test_the_selector_and_the_namespace_choose() -> None:
    metrics = source(detail("a"), detail("b"), detail("a", namespace="other"))

    for selector, names in [("", ["a", "b"]), ("ahpa in (b)", ["b"])]:
        found = await metrics.read(ask("gputide_demand", selector))
        assert found is not None
        assert [dict(one.labels)["ahpa"] for one in found] == names
    with pytest.raises(StatusError, match="no autoscaler in default with selector ahpa=c"):
        await metrics.read(ask("gputide_demand", "ahpa=c"))


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"issuedAt": NOW - 412}, "default/b is 412 s old, more than 180 s"),
        ({"forecastDemand": None}, "default/b is unknown at the moment"),
    ],
)
async def test_what_is_old_or_unknown_is_not_found_not_zero_and_not_left_out(
    changes: dict[str, Any], words: str
) -> None:
    metrics = source(detail("a"), detail("b", **changes))

    with pytest.raises(StatusError, match=words) as caught:
        await metrics.read(ask("gputide_forecast_demand"))
    assert caught.value.code == 404
    assert await metrics.read(ask("gputide_forecast_demand", "ahpa=a"))


async def test_other_names_are_somebody_elses() -> None:
    assert await source().read(ask("gpu_util")) is None
    assert source().names() == (
        "gputide_forecast_demand",
        "gputide_forecast_replicas",
        "gputide_demand",
    )


async def test_a_value_that_is_no_quantity_is_unknown() -> None:
    metrics = ForecastMetrics(
        forecasts=FakeForecasts(), clock=FakeClock(NOW), quantity=lambda _: None
    )
    with pytest.raises(StatusError, match="unknown at the moment"):
        await metrics.read(ask("gputide_demand"))
