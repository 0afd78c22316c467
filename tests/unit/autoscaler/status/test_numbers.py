import pytest

from gputide.autoscaler.status.numbers import amount_text, quantity_text, rounded
from gputide.scaling import MetricKind, MetricTarget, TargetKind


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.0, "0"), (20.0, "20"), (1.5, "1500m"), (0.033, "33m"), (0.0004, "1m"), (2000.0, "2000")],
)
def test_quantities_are_whole_or_thousandths(value: float, text: str) -> None:
    assert quantity_text(value) == text


def test_three_digits_are_kept_so_that_noise_is_no_change() -> None:
    assert [rounded(one) for one in (0.0, 189.43, 0.012345, 123_456.0)] == [
        0.0,
        189.0,
        0.0123,
        123_000.0,
    ]


def test_utilization_is_percent_and_the_unknown_is_empty() -> None:
    gpu = MetricTarget(
        kind=MetricKind.RESOURCE,
        name="gpu",
        target_kind=TargetKind.UTILIZATION,
        target=0.2,
        labels={},
    )
    queue = MetricTarget(
        kind=MetricKind.EXTERNAL,
        name="queue",
        target_kind=TargetKind.AVERAGE_VALUE,
        target=10,
        labels={},
    )
    assert amount_text(1.89, gpu) == "189"
    assert amount_text(0.25, queue) == "250m"
    assert amount_text(None, gpu) == ""
