from math import inf, nan

import pytest

from gputide.exposition import Family, Format, Kind, Sample, render
from gputide.exposition.text import format_value

POWER = Family("node_power_watts", Kind.GAUGE, "Power.", (Sample("node_power_watts", (), 1.5),))
XIDS = Family("xids_total", Kind.COUNTER, "XIDs.", (Sample("xids_total", (("gpu", "0"),), 2.0),))
ENERGY = Family("DCGM_ENERGY", Kind.COUNTER, "Energy.", (Sample("DCGM_ENERGY", (), 7.0),))


def test_text_format_prints_help_type_and_samples_in_order() -> None:
    assert render([POWER, XIDS]).decode() == (
        "# HELP node_power_watts Power.\n# TYPE node_power_watts gauge\nnode_power_watts 1.5\n"
        '# HELP xids_total XIDs.\n# TYPE xids_total counter\nxids_total{gpu="0"} 2\n'
    )


def test_openmetrics_names_a_counter_family_without_total_and_ends_with_eof() -> None:
    page = render([XIDS], Format.OPENMETRICS).decode()

    assert page.startswith("# HELP xids XIDs.\n# TYPE xids counter\nxids_total")
    assert page.endswith("# EOF\n")


def test_a_counter_without_total_keeps_its_name_in_openmetrics() -> None:
    page = render([ENERGY], Format.OPENMETRICS).decode()

    assert "# TYPE DCGM_ENERGY unknown\nDCGM_ENERGY 7\n" in page


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.0, "0"),
        (-3.0, "-3"),
        (0.1, "0.1"),
        (1e300, "1e+300"),
        (2.0**53, "9007199254740992"),
        (nan, "NaN"),
        (inf, "+Inf"),
        (-inf, "-Inf"),
    ],
)
def test_a_value_is_printed_as_prometheus_reads_it(value: float, text: str) -> None:
    assert format_value(value) == text


def test_timestamps_are_milliseconds_in_text_and_seconds_in_openmetrics() -> None:
    family = Family("a", Kind.GAUGE, "A.", (Sample("a", (), 1.0, 12.5),))

    assert render([family]).endswith(b"a 1 12500\n")
    assert b"a 1 12.500\n" in render([family], Format.OPENMETRICS)


def test_quotes_backslashes_and_line_ends_in_labels_are_escaped() -> None:
    family = Family("a", Kind.GAUGE, "x\ny", (Sample("a", (("l", 'q"b\\n\n'),), 1.0),))

    assert render([family]).decode() == ('# HELP a x\\ny\n# TYPE a gauge\na{l="q\\"b\\\\n\\n"} 1\n')
