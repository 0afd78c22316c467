"""Recorded load that is no part of the project: every file must be readable."""

import numpy as np
import pytest

from fakes.shared import TRACES
from gputide.backtest.load.csv import CsvOptions, read_traces
from gputide.errors import InputError

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not TRACES.is_dir(), reason="no recorded traces beside the checkout"),
]


def test_every_recorded_trace_is_read() -> None:
    files = sorted(TRACES.glob("*.csv.gz"))
    traces = [trace for file in files for trace in read_traces(file, CsvOptions(sum=True))]

    assert len(traces) == 15
    for trace in traces:
        assert len(trace.demand) > 1300
        assert np.nanmin(trace.demand) >= 0
        assert np.isnan(trace.demand).mean() < 0.2


@pytest.mark.parametrize(
    ("name", "minutes", "step", "unknown"),
    [
        ("crane-input0", 11_520, 60, 0),
        ("worldcup98-first-half", 62_660, 60, 10),
        ("nab-rds_cpu_utilization_cc0c53", 20_165, 300, 5),
        ("nab-Twitter_volume_AAPL", 79_510, 300, 0),
        ("genai-lora-requests", 33_156, 60, 0),
    ],
)
def test_minutes_cadence_and_gaps_are_as_recorded(
    name: str, minutes: int, step: int, unknown: int
) -> None:
    (trace,) = read_traces(TRACES / f"{name}.csv.gz")

    assert len(trace.demand) == minutes
    assert trace.recorded_step_seconds == step
    assert np.isnan(trace.demand).sum() == unknown


def test_a_fleet_of_pods_is_summed_and_counted() -> None:
    (trace,) = read_traces(TRACES / "genai-pod-gpu-duty-cycle.csv.gz", CsvOptions(sum_by="pod"))

    assert trace.recorded_step_seconds == 57
    assert trace.replicas is not None
    assert (trace.replicas.min(), trace.replicas.max()) == (104, 114)


@pytest.mark.parametrize("name", ["genai-pod-gpu-duty-cycle", "genai-qps"])
def test_a_fleet_is_not_summed_unasked(name: str) -> None:
    with pytest.raises(InputError, match=r"--sum-by (pod|request_type)"):
        read_traces(TRACES / f"{name}.csv.gz")
