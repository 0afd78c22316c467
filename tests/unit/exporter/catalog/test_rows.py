import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.exporter.catalog import FIELDS, Style, Unit
from gputide.exporter.catalog import rows as units


@pytest.mark.parametrize(
    ("unit", "value", "text"),
    [
        (units.MEGAHERTZ, 1410e6, "1410"),
        (units.PERCENT, 0.29, "29"),
        (units.WATTS, 115.294, "115.294000"),
        (units.MILLIJOULES, 27_151.028, "27151028"),
        (units.NANOSECONDS, 1.5, "1500000000"),
        (units.RATIO, 0.999892, "0.999892"),
        (units.MEBIBYTES, 4384.99 * 2**20, "4384"),
        (units.KILOBYTES_PER_SECOND, 2_499.0, "2"),
        (units.CELSIUS, 37, "37"),
    ],
)
def test_a_value_is_printed_as_dcgm_exporter_prints_it(unit: Unit, value: float, text: str) -> None:
    assert unit.text(value) == text


@given(percent=st.integers(0, 100), megahertz=st.integers(0, 10_000), joules=st.integers(0, 10**9))
def test_what_the_driver_said_in_its_unit_comes_out_unchanged(
    percent: int, megahertz: int, joules: int
) -> None:
    assert units.PERCENT.text(percent / 100) == str(percent)
    assert units.MEGAHERTZ.text(megahertz * 1e6) == str(megahertz)
    assert units.MILLIJOULES.text(joules / 1000) == str(joules)
    assert units.NANOSECONDS.text(joules / 1e9) == str(joules)


def test_memory_alone_is_cut_off() -> None:
    cut = {row.unit.symbol for row in FIELDS if row.unit.style is Style.TRUNCATED}

    assert cut == {"MiB"}
