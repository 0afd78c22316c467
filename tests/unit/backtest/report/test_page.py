"""The page's content; tests/integration/backtest/test_page.py opens it in a browser."""

import re
from dataclasses import replace
from html import unescape
from string import Formatter

import numpy as np

from fakes.trace_reports import refusing_report, trace_report
from gputide.backtest.model import PolicyName
from gputide.backtest.report.page import render
from gputide.backtest.report.pictures import curve_charts, observer
from gputide.backtest.report.texts import REPORT_TEXTS
from gputide.charts import Chart, Scatter


def words(text: str) -> str:
    """Return what the page shows, without its scripts and tags."""
    body = re.sub(r"<(script|style).*?</\1>", " ", text, flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", body)).split())


def test_the_recommendation_comes_first_with_its_reasons() -> None:
    shown = words(render([trace_report()]))

    order = [
        shown.index("Switch to auto: 31 % fewer replica-hours"),
        shown.index("0.07 % of the minutes would have been saturated"),
        shown.index("What each policy would have cost"),
        shown.index("Predict GPU Resource Observer"),
        shown.index("Predict POD Observer"),
        shown.index("Cost against harm"),
        shown.rindex("How it was measured"),
    ]
    assert order == sorted(order)


def test_harm_stands_beside_each_saving_and_is_marked_over_budget() -> None:
    shown = words(render([trace_report()]))

    assert "HPA * 2,160 37.5 % ▲ 1.39 % ▲ 0.31 %" in shown
    assert "gputide, tuned 2,376 31.2 % 0.07 % 0.01 %" in shown


def test_warnings_and_settings_are_on_the_page() -> None:
    shown = words(render([trace_report()]))

    assert "2 h of the trace are unknown" in shown
    assert "Start delay of a pod 180 s" in shown
    assert "Time zone of days and weeks Asia/Shanghai" in shown


def test_several_traces_have_an_overview_that_leads_to_each() -> None:
    text = render([trace_report("a"), refusing_report("b")])

    for at, name in enumerate("ab", 1):
        assert f'<a href="#trace-{at}">{name}</a>' in text
        assert f'<h2 id="trace-{at}">{name}</h2>' in text
    assert "1 of 2: switch" in words(text)
    assert "All traces" not in words(render([trace_report()]))


def test_no_two_parts_share_a_name() -> None:
    text = render([trace_report("a"), refusing_report("a"), trace_report("a")])

    names = re.findall(r' id="([^"]+)"', text)
    assert len(names) == len(set(names))


def test_a_chinese_page_has_no_english_label_left() -> None:
    english = words(render([trace_report()]))
    chinese = words(render([trace_report()], "zh"))

    for label in ("Replica-hours", "Saturated minutes", "How it was measured", "Settings"):
        assert label in english
        assert label not in chinese
    assert "饱和分钟" in chinese


def test_both_languages_fill_the_same_fields() -> None:
    def slots(value: object) -> list[str]:
        texts = value if isinstance(value, tuple) else (value,)
        fields = [f for text in texts for _, f, _, _ in Formatter().parse(str(text)) if f]
        return sorted(fields)

    english, chinese = REPORT_TEXTS["en"], REPORT_TEXTS["zh"]
    for name in english.__slots__:
        if name != "names":
            assert slots(getattr(english, name)) == slots(getattr(chinese, name)), name
    assert set(english.names) == set(chinese.names) == set(PolicyName)


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
