from dataclasses import replace

import numpy as np

from fakes.trace_reports import trace_report
from gputide.backtest.model import PolicyName
from gputide.backtest.report.pictures import curve_charts, observer
from gputide.backtest.report.texts import REPORT_TEXTS
from gputide.charts import Chart, Scatter


def test_the_pods_that_really_ran_are_shown_where_the_source_tells() -> None:
    report = trace_report()
    recorded = np.arange(len(report.trace.demand), dtype=np.float64)
    known = replace(report, trace=replace(report.trace, replicas=recorded))

    charts = [block for block in observer(known, "x", "en") if isinstance(block, Chart)]
    assumed = [block for block in observer(report, "x", "en") if isinstance(block, Chart)]

    assert np.array_equal(charts[1].lines[0].values, recorded)
    assert charts[1].lines[0].label == "actual pods"
    assert assumed[1].lines[0].label == "pods of the HPA (none recorded)"


def test_the_recorded_pods_begin_where_the_evaluation_does() -> None:
    report = trace_report()
    recorded = np.arange(len(report.trace.demand), dtype=np.float64)
    late = replace(
        report,
        trace=replace(report.trace, replicas=recorded),
        timeline=replace(
            report.timeline,
            start_utc=report.timeline.start_utc.replace(hour=1),
            demand=report.timeline.demand[60:],
            forecast_upper=report.timeline.forecast_upper[60:],
            replicas={p: pods[60:] for p, pods in report.timeline.replicas.items()},
        ),
    )

    chart = next(b for b in observer(late, "x", "en")[1:] if isinstance(b, Chart))

    assert chart.lines[0].values[0] == 60
    assert len(chart.lines[0].values) == len(recorded) - 60


def test_each_policy_has_a_curve_whose_chosen_point_is_its_row() -> None:
    saturated, late = curve_charts(trace_report(), REPORT_TEXTS["en"])

    for chart in (saturated, late):
        assert isinstance(chart, Scatter)
        assert chart.x_limit == 0.1
        assert [curve.label for curve in chart.curves] == [
            REPORT_TEXTS["en"].names[policy]
            for policy in PolicyName
            if policy is not PolicyName.LAST_WEEK  # unknown throughout
        ]
        for curve in chart.curves:
            assert curve.chosen == len(curve.x) - 1


def test_a_sweep_that_two_policies_share_is_drawn_once() -> None:
    report = trace_report()
    curves = dict(report.curves)
    curves[PolicyName.HPA_TUNED] = curves[PolicyName.HPA]

    chart = curve_charts(replace(report, curves=curves), REPORT_TEXTS["en"])[0]

    assert isinstance(chart, Scatter)
    by_label = {curve.label: curve for curve in chart.curves}
    assert len(by_label["HPA"].x) == 9
    assert len(by_label["HPA, tuned target"].x) == 1
