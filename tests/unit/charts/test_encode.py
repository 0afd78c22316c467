from dataclasses import replace

import numpy as np

from gputide.charts.encode import chart_data, chart_summary, front, scatter_data, scatter_summary
from gputide.charts.model import Chart, Color, Curve, FloatArray, Line, Scatter
from gputide.charts.texts import ENGLISH
from gputide.charts.thin import thin


def chart_of(values: FloatArray) -> Chart:
    line = Line(label="load", values=values, color=Color.ACTUAL)
    times = 60.0 * np.arange(len(values))
    return Chart(title="t", meaning="m", unit="GPUs", unix_seconds=times, lines=(line,))


def scatter_of(*curves: Curve) -> Scatter:
    return Scatter(
        title="t",
        meaning="m",
        x_label="harm",
        x_unit="%",
        y_label="cost",
        y_unit="h",
        note_label="knobs",
        curves=curves,
        x_linear_below=0.02,
    )


def summary_of(values: FloatArray) -> str:
    chart = chart_of(values)
    return " ".join(chart_summary(chart, thin(chart), ENGLISH))


def test_each_chart_says_its_figures_in_words() -> None:
    assert "load: 1 to 3 GPUs, 2 on average, unknown 33.33 % of the time" in summary_of(
        np.array([1.0, np.nan, 3.0])
    )


def test_a_line_without_any_value_says_so() -> None:
    assert "load: No data" in summary_of(np.full(2, np.nan))


def test_long_charts_say_what_their_points_stand_for() -> None:
    text = summary_of(np.ones(14 * 1440))

    assert "Each pair of points shows the least and the most of 4 minutes." in text
    assert "Each pair" not in summary_of(np.ones(1440))


def test_the_front_is_what_nothing_beats() -> None:
    assert front(np.array([5.0, 6.0, 4.0, 4.0, 1.0])).tolist() == [True, False, True, False, True]


def test_regular_times_are_a_start_and_a_step_and_others_a_list() -> None:
    regular = chart_data(thin(chart_of(np.ones(3))), ENGLISH)
    times = np.array([0.0, 60.0, 600.0])
    other = chart_data(thin(replace(chart_of(np.ones(3)), unix_seconds=times)), ENGLISH)

    assert regular["times"] == {"start": 0.0, "step": 60.0, "count": 3}
    assert other["times"] == {"list": [0.0, 60.0, 600.0]}


def test_points_go_by_x_with_their_notes_and_the_chosen_one_is_no_part_of_the_front() -> None:
    curve = Curve(
        label="c",
        x=np.array([2.0, 0.0, 1.0]),
        y=np.array([1.0, 3.0, 0.5]),
        notes=("two", "none", "one"),
        color=Color.PREDICTED,
        chosen=2,
    )

    (encoded,) = scatter_data(scatter_of(curve), ENGLISH)["curves"]

    assert encoded["x"] == [0, 1, 2]
    assert encoded["notes"] == ["none", "one", "two"]
    assert encoded["chosen"] == [False, True, False]
    assert encoded["front"] == [True, False, True]


def test_a_scatter_says_where_each_curve_runs() -> None:
    curve = Curve(
        label="c",
        x=np.array([0.0, 2.0]),
        y=np.array([9.0, 4.0]),
        notes=("", ""),
        color=Color.ACTUAL,
    )

    (sentence,) = scatter_summary(scatter_of(curve), ENGLISH)

    assert sentence == "<span>c (2): harm 0 to 2 %, cost 4 to 9 h</span>"
