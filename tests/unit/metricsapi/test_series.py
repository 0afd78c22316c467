"""Which series rules have."""

from dataclasses import dataclass, field

import pytest

from fakes.adapter_rules import RULES
from fakes.clock import FakeClock
from gputide.errors import QueryError
from gputide.metricsapi.rules.model import Rules
from gputide.metricsapi.rules.wire import parse_rules
from gputide.metricsapi.series import SeriesIndex, name_selector


@dataclass
class FakeSource:
    """`series`: selector -> names and labels; a QueryError is raised."""

    series: dict[str, dict[str, tuple[str, ...]] | QueryError] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    target: str = "http://p"

    async def names(self, selector: str, span: tuple[float, float]) -> tuple[str, ...]:
        assert span[1] - span[0] == 600
        self.asked.append(selector)
        found = self.series.get(selector, {})
        if isinstance(found, QueryError):
            raise found
        return tuple(found)

    async def label_names(self, selector: str, span: tuple[float, float]) -> tuple[str, ...]:
        assert span[1] - span[0] == 600
        for found in self.series.values():
            for name, labels in ({} if isinstance(found, QueryError) else found).items():
                if f'__name__="{name}"' in selector:
                    return labels
        return ()


GPU = 'DCGM_FI_DEV_GPU_UTIL{namespace!="",pod!=""}'
HTTP = 'http_requests_total{namespace!=""}'


def index(source: FakeSource, clock: FakeClock | None = None) -> SeriesIndex:
    rules = parse_rules(RULES, "f")
    made = SeriesIndex(source, clock or FakeClock(), Rules(), max_age_seconds=600)  # type: ignore[arg-type] # a fake of it
    made.use(rules)
    return made


async def test_names_become_the_apis_names_and_labels_its_resources() -> None:
    found = index(
        FakeSource(
            {
                GPU: {"DCGM_FI_DEV_GPU_UTIL": ("namespace", "pod", "gpu")},
                HTTP: {"http_requests_total": ("namespace",)},
            }
        )
    )
    assert found.listing.external_names == ()
    await found.look()

    assert found.listing.external_names == ("http_requests_per_second",)
    assert [(row.resource.plural, row.metric) for row in found.listing.custom_rows] == [
        ("namespaces", "gpu_util"),
        ("pods", "gpu_util"),
    ]
    assert found.listing.custom_rows[0].is_namespaced is False


async def test_a_rule_that_fails_keeps_what_it_had_and_stops_no_other() -> None:
    source = FakeSource({GPU: {"DCGM_FI_DEV_GPU_UTIL": ("pod",)}})
    found = index(source)
    await found.look()
    source.series = {GPU: QueryError("p", "HTTP 422"), HTTP: {"http_requests_total": ()}}
    await found.look()

    assert found.problems == {"rules[0]": "HTTP 422"}
    assert list(found.listing.custom) == ["gpu_util"]
    assert list(found.listing.external) == ["http_requests_per_second"]


POWER = '{__name__=~"^kube_.*_power$"}'
TIMEOUT = QueryError("p", "timed out", is_retryable=True)


async def test_a_server_out_of_reach_is_not_asked_by_every_rule_and_said_so() -> None:
    source = FakeSource(dict.fromkeys((GPU, POWER, HTTP), TIMEOUT))
    found = index(source)
    with pytest.raises(QueryError, match="timed out"):
        await found.look_again()

    assert source.asked == [GPU, POWER]
    assert set(found.problems.values()) == {"timed out"}
    assert len(found.problems) == len(found.rules.custom) + len(found.rules.external)


async def test_one_rule_that_always_takes_too_long_stops_no_other() -> None:
    source = FakeSource({GPU: TIMEOUT, HTTP: {"http_requests_total": ("namespace",)}})
    found = index(source)
    await found.look()

    assert found.problems == {"rules[0]": "timed out"}
    assert list(found.listing.external) == ["http_requests_per_second"]


async def test_rules_of_one_selector_ask_once() -> None:
    source = FakeSource({"queue_length": {"queue_length": ("queue",)}})
    found = index(source)
    await found.look()

    assert len({"queue_length", "queue_scalar"} & set(found.listing.external)) == 2
    assert source.asked.count("queue_length") == 1


async def test_an_unknown_name_looks_again_but_not_all_the_time() -> None:
    clock, source = FakeClock(), FakeSource()
    found = index(source, clock)
    await found.look_again()
    count = len(source.asked)
    await found.look_again()
    assert len(source.asked) == count
    clock.seconds += 31
    await found.look_again()
    assert len(source.asked) == 2 * count


@pytest.mark.parametrize(
    ("query", "selector"),
    [
        ("up", '{__name__="n"}'),
        ('up{a="b"}', '{__name__="n",a="b"}'),
        ('{__name__=~"^x",a="}"}', '{__name__=~"^x",a="}",__name__="n"}'),
    ],
)
def test_one_name_of_a_rule_is_selected_with_all_its_matchers(query: str, selector: str) -> None:
    rule = parse_rules(
        "externalRules: [{seriesQuery: " + repr(query) + ", resources: {namespaced: false}}]", "f"
    ).external[0]
    assert name_selector(rule, "n") == selector
