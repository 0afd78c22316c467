import pytest
from hypothesis import given
from hypothesis import strategies as st

from gputide.errors import InputError
from gputide.exporter.catalog import FIELDS, own
from gputide.exporter.counters import UNTOLD_REASON, read_counters
from gputide.exporter.fields import Fact
from gputide.exporter.selection import ChosenLabel, Untold, default_selection
from gputide.exposition import Kind

SHIPPED_FORM = """\
# Format
# If line starts with a '#' it is considered a comment
# DCGM FIELD, Prometheus metric type, help message

DCGM_FI_DEV_SM_CLOCK,  gauge, SM clock frequency (in MHz).
DCGM_FI_DEV_DEC_UTIL ,     gauge, Decoder utilization (in %).
  # DCGM_FI_DEV_POWER_VIOLATION, counter, Throttling duration.
DCGM_FI_DRIVER_VERSION, label, Driver Version
"""


def test_a_file_as_dcgm_exporter_ships_it_is_read() -> None:
    selection = read_counters(SHIPPED_FORM, source="counters.csv")

    assert [(f.name, f.kind, f.help) for f in selection.fields] == [
        ("DCGM_FI_DEV_SM_CLOCK", Kind.GAUGE, "SM clock frequency (in MHz)."),
        ("DCGM_FI_DEV_DEC_UTIL", Kind.GAUGE, "Decoder utilization (in %)."),
    ]
    assert selection.labels == (ChosenLabel("DCGM_FI_DRIVER_VERSION", Fact.DRIVER_VERSION),)


def test_the_default_list_written_as_a_file_selects_the_default_list() -> None:
    rows = [row for row in FIELDS if row.is_default]
    text = "\n".join(f"{row.name}, {row.kind}, {row.help}" for row in rows)
    text += "\nDCGM_FI_DRIVER_VERSION, label, Driver Version"

    assert read_counters(text, source="x") == default_selection()


def test_the_file_decides_on_type_and_help() -> None:
    selection = read_counters("DCGM_FI_PROF_PCIE_TX_BYTES, Counter, Old, with commas", source="x")

    assert selection.fields[0].kind is Kind.COUNTER
    assert selection.fields[0].help == "Old, with commas"


@pytest.mark.parametrize("name", ["dcgm_gpu_temp", "DCGM_FI_DEV_GPU_TEMP_CELSIUS"])
def test_another_name_of_a_field_is_taken_and_kept(name: str) -> None:
    chosen = read_counters(f"{name}, gauge, T.", source="x").fields[0]

    assert (chosen.name, chosen.row.name) == (name, "DCGM_FI_DEV_GPU_TEMP")


def test_a_field_that_no_nvml_tells_is_taken_and_named() -> None:
    text = "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0, counter, a\nDCGM_EXP_P2P_STATUS, gauge, b"

    assert read_counters(text, source="x").untold == (
        Untold("DCGM_FI_DEV_NVLINK_BANDWIDTH_L0", UNTOLD_REASON),
        Untold("DCGM_EXP_P2P_STATUS", UNTOLD_REASON),
    )


def test_a_number_can_become_a_label() -> None:
    label = read_counters("DCGM_FI_DEV_MIG_MODE, label, M", source="x").labels[0]

    assert (label.name, label.source) == (
        "DCGM_FI_DEV_MIG_MODE",
        next(row for row in FIELDS if row.name == "DCGM_FI_DEV_MIG_MODE"),
    )


def test_events_in_a_window_are_gauges_whatever_the_file_says() -> None:
    chosen = read_counters("DCGM_EXP_XID_ERRORS_COUNT, counter, x", source="x").events[0]

    assert (chosen.row, chosen.kind) == (own.XIDS_IN_WINDOW, Kind.GAUGE)


TEMP = "DCGM_FI_DEV_GPU_TEMP"
TEXT_AS_NUMBER = "DCGM_FI_DRIVER_VERSION is a text, and cannot be a gauge: say label"


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        (
            "\nDCGM_FI_DEV_GPU_TMP, gauge, x",
            "line 2, column 1",
            f"'DCGM_FI_DEV_GPU_TMP' is no field of DCGM; did you mean {TEMP}?",
        ),
        ("zzz, gauge, x", "line 1, column 1", "'zzz' is no field of DCGM"),
        (
            f"{TEMP}, gage, x",
            "line 1, column 2",
            "'gage' is no type: say gauge, counter or label",
        ),
        ("DCGM_FI_DRIVER_VERSION, gauge, x", "line 1, column 2", TEXT_AS_NUMBER),
        (
            f"{TEMP}, gauge",
            "line 1, column 3",
            f"is missing: '{TEMP}, gauge' is not `field, type, help`",
        ),
        (TEMP, "line 1, column 2", f"is missing: '{TEMP}' is not `field, type, help`"),
        (
            f"{TEMP}, gauge, x\n{TEMP}, gauge, y",
            "line 2, column 1",
            f"{TEMP} stands in line 1 already",
        ),
    ],
)
def test_a_mistake_is_named_with_line_and_column(text: str, place: str, problem: str) -> None:
    with pytest.raises(InputError) as error:
        read_counters(text, source="c.csv")

    assert str(error.value) == f"c.csv, {place}: {problem}"
    assert error.value.exit_code == 2


def test_a_file_that_selects_nothing_is_refused() -> None:
    with pytest.raises(InputError, match=r"c\.csv: selects no field"):
        read_counters("# nothing\n", source="c.csv")


def reads_or_names_the_file(text: str) -> bool:
    try:
        read_counters(text, source="c.csv")
    except InputError as error:
        return error.place.startswith("c.csv")
    return True


@given(text=st.text(max_size=80))
def test_any_text_is_read_or_refused_by_name(text: str) -> None:
    assert reads_or_names_the_file(text)


@given(text=st.text("DCGM_FI,ab \"'#\n", max_size=60))
def test_quotes_and_commas_anywhere_are_read_or_refused_by_name(text: str) -> None:
    assert reads_or_names_the_file(text)


def test_a_file_with_windows_line_ends_and_a_byte_order_mark_is_read() -> None:
    text = "\ufeffDCGM_FI_DEV_GPU_TEMP, gauge, T.\r\nDCGM_FI_DEV_GPU_UTIL, gauge, U.\r\n"

    assert len(read_counters(text, source="x").fields) == 2
