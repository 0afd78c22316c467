"""The order of samples, and samples of one time."""

import numpy as np
import pytest

from gputide.backtest.load.samples import Samples, in_order
from gputide.errors import InputError


def samples_of(times: list[float], keys: list[int] | None = None) -> Samples:
    return Samples(
        name="load.csv",
        times=np.array(times, dtype=np.float64),
        values=np.arange(1.0, len(times) + 1),
        keys=np.array(keys or [0] * len(times)),
        lines=np.arange(2, len(times) + 2),
        is_keyed=keys is not None,
    )


def test_series_are_gathered_each_in_the_order_of_the_file() -> None:
    ordered = in_order(samples_of([0, 0, 60, 60], [1, 0, 1, 0]), is_summed=True, others=())

    assert ordered.keys.tolist() == [0, 0, 1, 1]
    assert ordered.times.tolist() == [0, 60, 0, 60]
    assert ordered.lines.tolist() == [3, 5, 2, 4]


def test_a_sum_without_keys_takes_any_order() -> None:
    ordered = in_order(samples_of([60, 0, 60, 0]), is_summed=True, others=("pod",))

    assert ordered.added_up().times.tolist() == [0, 60]
    assert ordered.added_up().values.tolist() == [2 + 4, 1 + 3]


@pytest.mark.parametrize(
    ("times", "others", "expected"),
    [
        ([0, 60, 30], (), "load.csv:4: .* lies before the one on line 3: sort the file by time"),
        ([0, 60, 30], ("pod",), "load.csv:4: .* before .* --sum-by pod, or all rows with --sum"),
        ([0, 60, 60], (), "load.csv:4: .* occurs twice .first on line 3.: leave one"),
        ([0, 60, 60], ("pod",), "load.csv:4: .* occurs twice .* --sum-by pod"),
        ([0, 60, 60, 0], (), "load.csv:4"),
        ([0, 60, 0, 0], (), "load.csv:4"),
    ],
)
def test_the_first_row_out_of_order_is_named_with_a_way_out(
    times: list[float], others: tuple[str, ...], expected: str
) -> None:
    with pytest.raises(InputError, match=expected):
        in_order(samples_of(times), is_summed=False, others=others)


def test_a_series_that_runs_backwards_is_refused_though_its_rows_are_summed() -> None:
    with pytest.raises(InputError, match=r"load.csv:5: .* lies before the one on line 4: sort"):
        in_order(samples_of([0, 0, 60, 30], [0, 1, 1, 1]), is_summed=True, others=("a",))


def test_unknown_values_are_left_out_and_make_their_sum_unknown() -> None:
    samples = samples_of([0, 0, 60])
    samples.values[0] = np.nan

    assert samples.known().times.tolist() == [0, 60]
    np.testing.assert_array_equal(samples.added_up().values, [np.nan, 3])
