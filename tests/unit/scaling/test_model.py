from pathlib import Path

from gputide.scaling import REASONS, Decisions, Memory, Policies, Policy, Reason, Strategy, decide
from unit.scaling.scalar import Row
from unit.scaling.worlds import situation_of


def decisions() -> Decisions:
    rows = [Policy(strategy=s, proactive_target=1.0, reactive_target=1.0) for s in Strategy]
    found = [Row(now=0.0, current=5.0, low=10.0, high=20.0, demand=3.0, forecast=2.0) for _ in rows]
    return decide(Policies.from_rows(rows), situation_of(found), Memory(len(rows)))


def test_an_observer_shows_what_the_load_asks_for_and_the_others_what_they_run() -> None:
    made = dict(zip(Strategy, decisions().published.tolist(), strict=True))
    assert made == {
        Strategy.OBSERVER: 3.0,
        Strategy.AUTO: 10.0,
        Strategy.PROACTIVE: 10.0,
        Strategy.REACTIVE: 10.0,
    }


def test_the_deciding_reason_of_each_row_is_an_index_into_the_reasons() -> None:
    assert [REASONS[index] for index in decisions().reasons] == [Reason.AT_MINIMUM] * 4


def test_reasons_are_written_as_condition_reasons_are() -> None:
    assert all(reason.value.isalpha() and reason.value[0].isupper() for reason in Reason)


def test_a_row_is_explained_on_demand() -> None:
    steps = decisions().explain(0)
    assert steps[0].reason is Reason.DEMAND
    assert steps[-1].reason is Reason.OBSERVED


def test_every_reason_is_explained_in_the_documentation() -> None:
    page = Path(__file__).parents[3] / "docs" / "explanation" / "scaling-decision.md"
    text = page.read_text()
    assert [reason.value for reason in Reason if f"`{reason.value}`" not in text] == []
