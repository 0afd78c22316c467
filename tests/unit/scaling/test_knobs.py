"""Policy and bounds as a spec asks for them."""

from datetime import UTC, datetime
from math import nan
from typing import Any

import msgspec
import pytest

from gputide.errors import SettingError
from gputide.scaling import HPA_DOWN, HPA_UP, Limit, LimitKind, Policy, Select, Strategy, TargetKind
from gputide.scaling.knobs import bounds_of, policy_of
from gputide.scaling.wire import Spec


def spec(**fields: object) -> Spec:
    return msgspec.convert({"metrics": [], "maxReplicas": 10} | fields, Spec)


def policy(**fields: object) -> Policy:
    return policy_of(spec(**fields), target=0.2, target_kind=TargetKind.UTILIZATION)


def test_the_defaults_are_forecast_led_unless_the_strategy_is_the_plain_hpa() -> None:
    auto, reactive = policy(scaleStrategy="auto"), policy(scaleStrategy="reactive")

    assert (auto.tolerance_up_ratio, auto.dead_band_ratio) == (0, 0.1)
    assert (reactive.tolerance_up_ratio, reactive.dead_band_ratio) == (0.1, 0)
    assert auto.forecast_cap_ratio == 1.25
    assert auto.recovery_grace_seconds == 120
    assert auto.is_forecast_scale_in
    assert (auto.up, auto.down) == (HPA_UP, HPA_DOWN)
    assert policy().strategy is Strategy.OBSERVER


def test_each_of_our_fields_reaches_its_knob() -> None:
    found = policy(
        reactiveTarget=90,
        scaleInDeadBandPercent=20,
        forecastCapPercent=150,
        scaleInOnForecastAlone=False,
        recoveryGraceSeconds=30,
    )
    assert (found.proactive_target, found.reactive_target) == (0.2, 0.9)
    assert (found.dead_band_ratio, found.forecast_cap_ratio) == (0.2, 1.5)
    assert (found.is_forecast_scale_in, found.recovery_grace_seconds) == (False, 30)


def test_a_second_target_is_written_in_the_unit_of_the_first() -> None:
    found = policy_of(
        spec(reactiveTarget="1500m"), target=2.0, target_kind=TargetKind.AVERAGE_VALUE
    )
    assert (found.reactive_target, found.is_utilization) == (1.5, False)


def test_behavior_is_read_as_in_autoscaling_v2() -> None:
    found = policy(
        behavior={
            "scaleUp": {
                "stabilizationWindowSeconds": 60,
                "selectPolicy": "Min",
                "policies": [
                    {"type": "Pods", "value": 2, "periodSeconds": 30},
                    {"type": "Percent", "value": 50, "periodSeconds": 60},
                ],
                "tolerance": "50m",
            },
            "scaleDown": {"selectPolicy": "Disabled", "tolerance": 0},
        }
    )
    assert found.up.stabilization_seconds == 60
    assert found.up.select is Select.MIN
    assert found.up.limits == (
        Limit(kind=LimitKind.PODS, value=2, period_seconds=30),
        Limit(kind=LimitKind.PERCENT, value=50, period_seconds=60),
    )
    assert (found.tolerance_up_ratio, found.tolerance_down_ratio) == (0.05, 0)
    assert found.down.select is Select.DISABLED
    assert (found.down.stabilization_seconds, found.down.limits) == (300, HPA_DOWN.limits)


def test_the_vendors_one_window_is_the_scale_in_window() -> None:
    assert policy(stabilizationWindowSeconds=900).down.stabilization_seconds == 900
    both = {"scaleDown": {"stabilizationWindowSeconds": 900}}
    found = policy(stabilizationWindowSeconds=900, behavior=both)
    assert found.down.stabilization_seconds == 900


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        (
            {"scaleStrategy": "turbo"},
            "spec.scaleStrategy: 'turbo' is none of observer, auto, proactive, reactive",
        ),
        ({"reactiveTarget": 0}, "spec.reactiveTarget: must be above 0"),
        (
            {"reactiveTarget": "much"},
            "spec.reactiveTarget: 'much' is no quantity; write it as 20, 0.5, 500m or 1k",
        ),
        (
            {"scaleInDeadBandPercent": 100},
            "spec.scaleInDeadBandPercent: must be 0 to 99, is 100",
        ),
        (
            {"forecastCapPercent": 90},
            "spec.forecastCapPercent: must be 100 to 1e+06, is 90",
        ),
        (
            {"recoveryGraceSeconds": nan},
            "spec.recoveryGraceSeconds: must be 0 to 86400, is nan",
        ),
        (
            {"behavior": {"scaleUp": {"policies": []}}},
            "spec.behavior.scaleUp.policies: needs at least one policy",
        ),
        (
            {"behavior": {"scaleUp": {"tolerance": 1}}},
            "spec.behavior.scaleUp.tolerance: must be 0 to 0.99, is 1",
        ),
        (
            {"behavior": {"scaleDown": {"selectPolicy": "Most"}}},
            "spec.behavior.scaleDown.selectPolicy: 'Most' is none of Max, Min, Disabled",
        ),
        (
            {"behavior": {"scaleDown": {"stabilizationWindowSeconds": 4000}}},
            "spec.behavior.scaleDown.stabilizationWindowSeconds: must be 0 to 3600, is 4000",
        ),
        (
            {
                "stabilizationWindowSeconds": 300,
                "behavior": {"scaleDown": {"stabilizationWindowSeconds": 60}},
            },
            ("spec.stabilizationWindowSeconds: "
            "behavior.scaleDown.stabilizationWindowSeconds says otherwise; give one of them"),
        ),
    ],
)  # fmt: skip
def test_each_mistake_in_a_knob_names_its_field(fields: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        policy(**fields)
    assert str(caught.value) == message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"type": "Share"}, "type: 'Share' is none of Pods, Percent"),
        ({"value": 0}, "value: must be above 0, is 0"),
        ({"periodSeconds": 1801}, "periodSeconds: must be 1 to 1800, is 1801"),
        ({"periodSeconds": 0}, "periodSeconds: must be 1 to 1800, is 0"),
    ],
)
def test_each_mistake_in_a_rate_names_its_field(change: dict[str, Any], message: str) -> None:
    rate = {"type": "Pods", "value": 4, "periodSeconds": 15} | change
    with pytest.raises(SettingError) as caught:
        policy(behavior={"scaleDown": {"policies": [rate]}})
    assert str(caught.value) == f"spec.behavior.scaleDown.policies[0].{message}"


ENTRY = {"cron": "* 9 * * *", "minReplicas": 3, "maxReplicas": 5}


def test_times_are_read_in_the_resources_zone_or_else_in_the_default_one() -> None:
    windows = [{"startTime": "2026-06-01 00:00:00", "bounds": [ENTRY]}]
    at = datetime(2026, 6, 1, 1, tzinfo=UTC)

    default = bounds_of(spec(instanceBounds=windows), default_time_zone="Asia/Shanghai")
    own = bounds_of(spec(instanceBounds=windows, timeZone="UTC"), default_time_zone="Asia/Shanghai")

    assert default.at(at).min_replicas == 3
    assert own.at(at).min_replicas == 1


@pytest.mark.parametrize(
    ("window", "message"),
    [
        ({"bounds": []}, "bounds: needs at least one entry"),
        (
            {"startTime": "yesterday", "bounds": [ENTRY]},
            ("startTime: 'yesterday' is no time; "
            "write YYYY-MM-DD HH:MM:SS, or ISO 8601 with a zone"),
        ),
        (
            {"endTime": 1700000000, "bounds": [ENTRY]},
            ("endTime: '1700000000' is no time; "
            "write YYYY-MM-DD HH:MM:SS, or ISO 8601 with a zone"),
        ),
        (
            {"bounds": [ENTRY, ENTRY | {"cron": "* 25 * * *"}]},
            "bounds[1].cron: '* 25 * * *': '25' is no hour",
        ),
        (
            {"bounds": [ENTRY, ENTRY | {"minReplicas": 6}]},
            "bounds[1].minReplicas: 6 is more than maxReplicas 5",
        ),
    ],
)  # fmt: skip
def test_each_mistake_in_a_window_names_its_field(window: dict[str, Any], message: str) -> None:
    with pytest.raises(SettingError) as caught:
        bounds_of(spec(instanceBounds=[window]), default_time_zone="UTC")
    assert str(caught.value) == f"spec.instanceBounds[0].{message}"


def test_a_zone_that_does_not_exist_names_its_field() -> None:
    with pytest.raises(SettingError, match=r"^spec.timeZone: 'Mars' is no time zone"):
        bounds_of(spec(timeZone="Mars"), default_time_zone="UTC")
