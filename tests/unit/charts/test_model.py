import numpy as np
import pytest

from gputide.charts.model import Chart, Color, Curve, Line


def test_a_line_that_does_not_fit_the_times_is_refused() -> None:
    line = Line(label="load", values=np.ones(3), color=Color.ACTUAL)

    with pytest.raises(ValueError, match="'load' has 3 values for 2 times"):
        Chart(title="t", meaning="m", unit="", unix_seconds=np.array([0.0, 60.0]), lines=(line,))


def test_a_chart_without_times_is_refused() -> None:
    with pytest.raises(ValueError, match="'t' has no times"):
        Chart(title="t", meaning="m", unit="", unix_seconds=np.array([]), lines=())


def test_times_that_do_not_rise_are_refused() -> None:
    with pytest.raises(ValueError, match="times of 't' do not rise"):
        Chart(title="t", meaning="m", unit="", unix_seconds=np.array([60.0, 60.0]), lines=())


def test_a_band_has_both_its_edges() -> None:
    with pytest.raises(ValueError, match="'band' has 2 values and a lower edge of 1"):
        Line(label="band", values=np.ones(2), lower=np.ones(1), color=Color.PREDICTED)


def test_each_point_of_a_curve_has_x_y_and_a_note() -> None:
    with pytest.raises(ValueError, match="'c' has 2 x, 1 y and 0 notes"):
        Curve(label="c", x=np.ones(2), y=np.ones(1), notes=(), color=Color.ACTUAL)
