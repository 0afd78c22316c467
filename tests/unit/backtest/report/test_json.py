import re
from dataclasses import fields, replace
from pathlib import Path

import msgspec
import numpy as np

from fakes.trace_reports import trace_report
from gputide.backtest.model import Outcome, PolicyName
from gputide.backtest.report import json

REFERENCE = Path(__file__).parents[4] / "docs" / "reference" / "backtest-report.md"


def rendered() -> dict[str, object]:
    found: dict[str, object] = msgspec.json.decode(json.render([trace_report()]))
    return found


def test_what_is_written_can_be_read_back_with_its_own_types() -> None:
    report = trace_report()

    read = msgspec.json.decode(json.render([report]), type=json.ReportJson)

    (trace,) = read.traces
    assert read.format == "gputide-backtest/1"
    assert trace.trace.name == report.trace.name
    assert trace.trace.start_utc == report.trace.start_utc
    assert [outcome.policy for outcome in trace.outcomes] == list(map(str, PolicyName))
    assert trace.outcomes[1].saturated_ratio == report.outcomes[1].saturated_ratio
    assert set(trace.curves) == set(map(str, report.curves))
    assert len(trace.timeline.demand) == len(report.timeline.demand)


def test_unknown_is_null_never_0_and_never_nan() -> None:
    text = json.render([trace_report()])
    assert "NaN" not in text

    document = msgspec.json.decode(text)
    (trace,) = document["traces"]
    demand = trace["timeline"]["demand"]
    assert demand[30 * 60 : 32 * 60] == [None] * 120
    last_week = next(o for o in trace["outcomes"] if o["policy"] == "last-week")
    assert last_week["saturated_ratio"] is None


def test_every_outcome_field_is_written() -> None:
    assert {field.name for field in fields(Outcome)} <= set(json.OutcomeJson.__struct_fields__)


def test_hostile_names_survive_as_they_are() -> None:
    name = '"</script>\x1b\u2028'
    report = trace_report()
    hostile = replace(report, trace=replace(report.trace, name=name))

    document = msgspec.json.decode(json.render([hostile]))

    assert document["traces"][0]["trace"]["name"] == name


def test_the_share_of_unknown_steps_is_told() -> None:
    report = trace_report()

    document = msgspec.json.decode(json.render([report]))

    told = document["traces"][0]["trace"]["unknown_ratio"]
    assert told == np.isnan(report.trace.demand).mean()


def test_the_reference_describes_exactly_the_fields_that_are_written() -> None:
    structs = [
        struct
        for struct in vars(json).values()
        if isinstance(struct, type) and issubclass(struct, msgspec.Struct)
    ]
    written = {name for struct in structs for name in struct.__struct_fields__}
    described = set(re.findall(r"^\| `([a-z_]+)`", REFERENCE.read_text(), re.MULTILINE))

    assert described == written
