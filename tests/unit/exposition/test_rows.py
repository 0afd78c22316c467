from gputide.exposition import Family, Kind, Sample
from gputide.exposition.rows import MetricRow, by, families, one

UP = MetricRow("up", Kind.GAUGE, "Whether.")
GONE = MetricRow("gone", Kind.COUNTER, "How often.")


def test_a_family_without_samples_is_not_there() -> None:
    assert families({UP: one(1), GONE: by("why", {})}) == (
        Family("up", Kind.GAUGE, "Whether.", (Sample("up", (), 1.0),)),
    )


def test_values_keep_their_labels_order() -> None:
    [family] = families({GONE: by("why", {"z": 1, "a": 2})})
    assert [sample.labels for sample in family.samples] == [(("why", "a"),), (("why", "z"),)]
