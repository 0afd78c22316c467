import re
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.errors import SettingError
from gputide.prometheus.catalog import (
    DEMAND,
    Metric,
    capacity_query,
    demand_query,
    fill,
    parse_metric,
    ready_query,
)
from gputide.prometheus.workload import Workload

WORKLOAD = Workload(namespace="default", name="bert-intent-detection")
NAMES = st.builds("x{}x".format, st.text("ab09.-", max_size=60))
REFERENCE = Path(__file__).parents[3] / "docs/reference/demand-queries.md"


def test_every_metric_has_a_row() -> None:
    assert list(DEMAND) == list(Metric)


def test_all_queries_are_valid_promql(tmp_path: Path) -> None:
    rules = []
    for metric in Metric:
        queries = demand_query(metric, WORKLOAD), ready_query(metric, WORKLOAD)
        rules += [q for q in (*queries, capacity_query(metric, WORKLOAD)) if q]
    lines = [f"  - {{record: 'q:{n}', expr: '{query}'}}" for n, query in enumerate(rules)]
    file = tmp_path / "rules.yml"
    file.write_text("groups:\n- name: catalog\n  rules:\n" + "\n".join(lines))
    done = subprocess.run(
        ["promtool", "check", "rules", str(file)], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert f"{len(rules)} rules found" in done.stdout


@pytest.mark.parametrize("metric", Metric)
def test_no_word_is_left_unfilled(metric: Metric) -> None:
    assert "$" not in demand_query(metric, WORKLOAD) + ready_query(metric, WORKLOAD)


@pytest.mark.parametrize(
    ("name", "metric"),
    [("gpu", Metric.GPU), ("QPS", Metric.RPS), ("gpu-memory", Metric.GPU_MEMORY)],
)
def test_a_metric_goes_by_the_names_that_people_use(name: str, metric: Metric) -> None:
    assert parse_metric(name) is metric


def test_an_unknown_metric_is_refused_with_the_known_ones() -> None:
    with pytest.raises(SettingError, match="'tpu' is no known metric: gpu, gpu_engine"):
        parse_metric("tpu")


def test_a_persons_own_query_takes_the_place_of_the_catalogs() -> None:
    template = 'sum(rate(nginx{ns="$namespace", svc="$workload", p=~"$pods|x$"}[$window]))'
    query = demand_query(Metric.RPS, WORKLOAD, window_seconds=300, template=template)

    assert query == (
        'sum(rate(nginx{ns="default", svc="bert-intent-detection", '
        'p=~"bert-intent-detection-[a-z0-9]+-[a-z0-9]{5}|x$"}[300s]))'
    )


def test_an_unknown_word_in_a_query_is_refused() -> None:
    with pytest.raises(SettingError, match=r"\$pod is unknown: it may hold \$namespace"):
        fill('up{pod=~"$pod"}', WORKLOAD)


@pytest.mark.parametrize("window_seconds", [0, -60, 100_000])
def test_a_window_that_holds_no_two_scrapes_or_days_is_refused(window_seconds: int) -> None:
    with pytest.raises(SettingError, match="window-seconds"):
        fill("up", WORKLOAD, window_seconds=window_seconds)


@settings(deadline=None, max_examples=50)
@given(name=NAMES)
def test_a_workloads_name_never_ends_the_string_it_stands_in(name: str) -> None:
    query = demand_query(Metric.GPU, Workload(namespace="n", name=name))

    assert query.count('"') == demand_query(Metric.GPU, WORKLOAD).count('"')
    assert "\\" not in query


def test_the_reference_page_shows_each_query_as_it_is() -> None:
    page = REFERENCE.read_text()
    blocks = re.findall(r"```promql\n(.*?)\n```", page, flags=re.DOTALL)
    expected = []
    for row in DEMAND.values():
        assert f"\n## {row.metric}: {row.title.lower()} ({row.unit})\n" in page
        assert not row.note or row.note in page
        expected += [row.demand, *([row.capacity] if row.capacity else [])]

    assert blocks == expected
