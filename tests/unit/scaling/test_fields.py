import pytest

from gputide.errors import SettingError
from gputide.scaling.fields import MetricKind, TargetKind, amount, choice, named, within


def test_a_choice_is_found_by_its_name_among_those_allowed() -> None:
    assert choice(MetricKind, "Pods", "x") is MetricKind.PODS
    with pytest.raises(SettingError, match=r"^x: 'pods' is none of Resource, External, Pods$"):
        choice(MetricKind, "pods", "x")
    with pytest.raises(SettingError, match=r"^x: 'Pods' is none of External$"):
        choice(MetricKind, "Pods", "x", [MetricKind.EXTERNAL])


@pytest.mark.parametrize("value", [-0.1, 10.1, float("nan"), float("inf")])
def test_a_number_out_of_its_range_is_refused(value: float) -> None:
    assert within(10, "x", most=10) == 10
    with pytest.raises(SettingError, match=r"^x: must be 0 to 10, is "):
        within(value, "x", most=10)


def test_utilization_is_written_in_percent_and_other_targets_as_they_are() -> None:
    assert amount(20, TargetKind.UTILIZATION, "x") == 0.2
    assert amount("500m", TargetKind.AVERAGE_VALUE, "x") == 0.5
    with pytest.raises(SettingError, match=r"^x: must be above 0$"):
        amount(0, TargetKind.VALUE, "x")


@pytest.mark.parametrize(
    ("message", "expected"),
    [
        (
            "Object contains unknown field `a` - at `$.spec.metrics[0]`",
            "spec.metrics[0].a: is no field of this object",
        ),
        ("Object contains unknown field `a`", "a: is no field of this object"),
        ("Object missing required field `b` - at `$.spec`", "spec.b: is missing"),
        (
            "Expected `int`, got `str` - at `$.spec.maxReplicas`",
            "spec.maxReplicas: expected `int`, got `str`",
        ),
        ("Expected `object`, got `null`", "object: expected `object`, got `null`"),
    ],
)  # fmt: skip
def test_a_decoders_message_becomes_ours(message: str, expected: str) -> None:
    assert str(named(message)) == expected
