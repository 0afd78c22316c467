from gputide.tunnel.gateway.backfill.convert import SeriesSamples, convert

TARGET = {"job": "gpu", "instance": "edge-1:9400", "site": "s1"}
PAGES = [
    (2000, b'# TYPE up gauge\nutil{gpu="0",site="own"} 5\nplain 1\nbroken{ 3\nnan NaN\n'),
    (1000, b'util{gpu="0",site="own"} 4\nplain 2 1500\n\nutil{gpu="\\"}{"} 7\n'),
]


def found(*, honor_labels: bool = False) -> dict[str, SeriesSamples]:
    made = convert(PAGES, [TARGET], honor_labels=honor_labels)
    return {dict(one.labels)["__name__"] + dict(one.labels).get("gpu", ""): one for one in made}


def test_series_have_the_pages_times_and_the_targets_labels() -> None:
    assert found()["util0"] == SeriesSamples(
        labels=(
            ("__name__", "util"),
            ("exported_site", "own"),
            ("gpu", "0"),
            ("instance", "edge-1:9400"),
            ("job", "gpu"),
            ("site", "s1"),
        ),
        samples=((1000, 4.0), (2000, 5.0)),
    )


def test_labels_are_honoured_where_that_is_asked_for() -> None:
    labels = dict(found(honor_labels=True)["util0"].labels)
    assert (labels["site"], "exported_site" in labels) == ("own", False)


def test_a_samples_own_time_counts_and_what_is_no_sample_is_left_out() -> None:
    assert found()["plain"].samples == ((1500, 2.0), (2000, 1.0))
    assert set(found()) == {"util0", "plain", 'util"}{'}


def test_each_target_gets_its_own_series() -> None:
    made = convert(PAGES[:1], [TARGET, {**TARGET, "job": "two"}], honor_labels=False)
    assert sorted(dict(one.labels)["job"] for one in made) == ["gpu", "gpu", "two", "two"]
    assert convert(PAGES, [], honor_labels=False) == []
