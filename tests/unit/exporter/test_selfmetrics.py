from gputide.exporter.selfmetrics import SelfMetrics
from gputide.exposition import Format


def lines(metrics: SelfMetrics, **errors: int) -> dict[str, float]:
    families = metrics.families(age_seconds=2.5, errors=errors)
    return {
        sample.name + "".join(f" {value}" for _, value in sample.labels): sample.value
        for family in families
        for sample in family.samples
    }


def test_scrapes_collections_errors_and_age_are_told() -> None:
    metrics = SelfMetrics("1.2.3", error_kinds=("device", "render"))
    metrics.count_scrape(Format.TEXT)
    metrics.count_collection(0.25)

    found = lines(metrics, device=3)

    assert found["gputide_exporter_build_info 1.2.3"] == 1
    assert found["gputide_exporter_scrapes_total text"] == 1
    assert found["gputide_exporter_scrapes_total openmetrics"] == 0
    assert found["gputide_exporter_errors_total device"] == 3
    assert found["gputide_exporter_errors_total render"] == 0
    assert 2.5 in found.values()
    assert 0.25 in found.values()


def test_a_duration_that_nobody_knows_is_left_out() -> None:
    metrics = SelfMetrics("1")
    with_none = set(lines(metrics))
    metrics.count_collection(1.0)

    assert len(set(lines(metrics)) - with_none) == 1
