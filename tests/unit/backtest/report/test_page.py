"""The page's content; tests/integration/backtest/test_page.py opens it in a browser."""

import re
from dataclasses import replace
from html import unescape

import pytest

from fakes.trace_reports import refusing_report, trace_report
from gputide.backtest.model import PolicyName
from gputide.backtest.report.page import render


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

    assert "HPA * 2,160 37.5 % ▲ 1.39 % ▲ 0.310 %" in shown
    assert "gputide, tuned 2,376 31.2 % 0.070 % 0.010 %" in shown


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


@pytest.mark.parametrize("left", [set(), {PolicyName.HPA}, {PolicyName.FIXED, PolicyName.GPUTIDE}])
def test_any_few_policies_make_a_page(left: set[PolicyName]) -> None:
    report = trace_report()
    few = replace(
        report,
        outcomes=tuple(o for o in report.outcomes if o.policy in left),
        curves={policy: curve for policy, curve in report.curves.items() if policy in left},
        timeline=replace(
            report.timeline,
            replicas={p: pods for p, pods in report.timeline.replicas.items() if p in left},
        ),
    )

    shown = words(render([few, few]))

    assert "Predict POD Observer" in shown
    assert "How it was measured" in shown


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
