import numpy as np
import pytest

from gputide.charts import Chart, Color, Forecasted, Line, observer_charts, observer_sections

ONES = np.ones(4)
FORECASTED = Forecasted(
    unix_seconds=60 * np.arange(4.0),
    demand=ONES,
    predicted_demand=2 * ONES,
    pods=3 * ONES,
    predicted_pods=ONES,
    unit="GPUs",
    time_zone="Asia/Shanghai",
    name="fib",
)


@pytest.mark.parametrize("language", ["en", "zh"])
def test_the_section_says_how_to_read_both_charts(language: str) -> None:
    (section,) = observer_sections(FORECASTED, "zh" if language == "zh" else "en")
    gpus, pods = section.blocks

    assert isinstance(gpus, Chart)
    assert isinstance(pods, Chart)
    assert gpus.title.startswith("Predict GPU Resource Observer")
    assert pods.title.startswith("Predict POD Observer")
    for chart in (gpus, pods):
        assert [line.color for line in chart.lines] == [Color.ACTUAL, Color.PREDICTED]
        assert chart.meaning
        assert chart.time_zone == "Asia/Shanghai"
    assert gpus.group == pods.group
    assert gpus.unit == "GPUs"


def test_pods_hold_until_they_change_and_demand_does_not() -> None:
    gpus, pods = observer_charts(FORECASTED)

    assert not any(line.is_stepped for line in gpus.lines)
    assert all(line.is_stepped for line in pods.lines)


def test_more_pods_join_the_pod_chart() -> None:
    more = Line(label="tuned", values=ONES, color=Color.PURPLE, is_hidden=True)

    _, pods = observer_charts(FORECASTED, more_pods=(more,))

    assert pods.lines[-1] is more


def test_two_workloads_of_a_page_zoom_apart() -> None:
    from dataclasses import replace

    other = replace(FORECASTED, name="bert")

    assert observer_charts(FORECASTED)[0].group != observer_charts(other)[0].group
