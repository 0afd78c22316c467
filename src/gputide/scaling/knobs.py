"""The knobs and bounds that a spec asks for."""

from datetime import date, datetime, time

import msgspec

from gputide.errors import SettingError
from gputide.scaling import wire
from gputide.scaling.bounds import MAX_REPLICAS, SPEC_PATH, Bound, Bounds, Window
from gputide.scaling.cron import CronMask
from gputide.scaling.fields import TargetKind, amount, choice, within
from gputide.scaling.policy import (
    HPA_DOWN,
    HPA_TOLERANCE_RATIO,
    HPA_UP,
    MAX_PERIOD_SECONDS,
    MAX_STABILIZATION_SECONDS,
    Direction,
    Limit,
    LimitKind,
    Policy,
    Select,
    Strategy,
)
from gputide.scaling.quantity import parse_quantity
from gputide.scaling.zone import zone_named

DEFAULT_DEAD_BAND_PERCENT = 10.0
DEFAULT_FORECAST_CAP_PERCENT = 125.0


def policy_of(spec: wire.Spec, *, target: float, target_kind: TargetKind) -> Policy:
    """Return the knobs; `target` is what a pod should serve of the metric that is forecast."""
    strategy = choice(Strategy, spec.scale_strategy, f"{SPEC_PATH}.scaleStrategy")
    is_hpa = strategy is Strategy.REACTIVE
    up, down = spec.behavior.scale_up, spec.behavior.scale_down
    tolerance = HPA_TOLERANCE_RATIO if is_hpa else 0.0
    band = spec.scale_in_dead_band_percent
    if band is None:
        band = 0.0 if is_hpa else DEFAULT_DEAD_BAND_PERCENT
    cap = spec.forecast_cap_percent
    reactive = target
    if spec.reactive_target is not None:
        reactive = amount(spec.reactive_target, target_kind, f"{SPEC_PATH}.reactiveTarget")
    return Policy(
        strategy=strategy,
        proactive_target=target,
        reactive_target=reactive,
        is_utilization=target_kind is TargetKind.UTILIZATION,
        tolerance_up_ratio=_tolerance(up, "scaleUp", default=tolerance),
        tolerance_down_ratio=_tolerance(down, "scaleDown", default=tolerance),
        up=_direction(up, "scaleUp", default=HPA_UP),
        down=_direction(_with_cool_down(spec), "scaleDown", default=HPA_DOWN),
        dead_band_ratio=within(band, f"{SPEC_PATH}.scaleInDeadBandPercent", most=99) / 100,
        forecast_cap_ratio=within(
            DEFAULT_FORECAST_CAP_PERCENT if cap is None else cap,
            f"{SPEC_PATH}.forecastCapPercent",
            least=100,
            most=1e6,
        )
        / 100,
        recovery_grace_seconds=within(
            spec.recovery_grace_seconds, f"{SPEC_PATH}.recoveryGraceSeconds", most=86_400
        ),
        is_forecast_scale_in=spec.scale_in_on_forecast_alone,
    )


def _tolerance(rules: wire.ScalingRules, name: str, *, default: float) -> float:
    if rules.tolerance is None:
        return default
    path = f"{SPEC_PATH}.behavior.{name}.tolerance"
    return within(parse_quantity(rules.tolerance, setting=path), path, most=0.99)


def _with_cool_down(spec: wire.Spec) -> wire.ScalingRules:
    """Return the rules down, with the vendor's one window where behavior sets none."""
    rules, seconds = spec.behavior.scale_down, spec.stabilization_window_seconds
    if seconds is None or rules.stabilization_window_seconds == seconds:
        return rules
    if rules.stabilization_window_seconds is not None:
        problem = "behavior.scaleDown.stabilizationWindowSeconds says otherwise; give one of them"
        raise SettingError(f"{SPEC_PATH}.stabilizationWindowSeconds", problem)
    return msgspec.structs.replace(rules, stabilization_window_seconds=seconds)


def _direction(rules: wire.ScalingRules, name: str, *, default: Direction) -> Direction:
    path = f"{SPEC_PATH}.behavior.{name}"
    limits = default.limits
    if rules.policies is not None:
        if not rules.policies:
            raise SettingError(f"{path}.policies", "needs at least one policy")
        limits = tuple(
            _limit(policy, f"{path}.policies[{index}]")
            for index, policy in enumerate(rules.policies)
        )
    seconds = rules.stabilization_window_seconds
    return Direction(
        stabilization_seconds=within(
            default.stabilization_seconds if seconds is None else seconds,
            f"{path}.stabilizationWindowSeconds",
            most=MAX_STABILIZATION_SECONDS,
        ),
        limits=limits,
        select=choice(Select, rules.select_policy or default.select, f"{path}.selectPolicy"),
    )


def _limit(policy: wire.RatePolicy, path: str) -> Limit:
    kind = choice(LimitKind, policy.type, f"{path}.type")
    if not 0 < policy.value <= MAX_REPLICAS:
        raise SettingError(f"{path}.value", f"must be above 0, is {policy.value:g}")
    seconds = within(
        policy.period_seconds, f"{path}.periodSeconds", least=1, most=MAX_PERIOD_SECONDS
    )
    return Limit(kind=kind, value=policy.value, period_seconds=seconds)


def bounds_of(spec: wire.Spec, *, default_time_zone: str) -> Bounds:
    """Return the bounds; times without a zone are read in `timeZone`, else in the default zone."""
    windows = []
    for index, window in enumerate(spec.instance_bounds):
        path = f"{SPEC_PATH}.instanceBounds[{index}]"
        bounds = [
            Bound(
                cron=CronMask.parse(bound.cron, setting=f"{path}.bounds[{number}].cron"),
                min_replicas=bound.min_replicas,
                max_replicas=bound.max_replicas,
            )
            for number, bound in enumerate(window.bounds)
        ]
        if not bounds:
            raise SettingError(f"{path}.bounds", "needs at least one entry")
        windows.append(
            Window(
                start=_time(window.start_time, f"{path}.startTime"),
                end=_time(window.end_time, f"{path}.endTime"),
                bounds=tuple(bounds),
            )
        )
    zone = default_time_zone if spec.time_zone is None else spec.time_zone
    return Bounds(
        min_replicas=spec.min_replicas,
        max_replicas=spec.max_replicas,
        zone=zone_named(zone, setting=f"{SPEC_PATH}.timeZone"),
        windows=tuple(windows),
    )


def _time(value: object, path: str) -> datetime | None:
    """Return a time as it was written, with or without a zone; YAML may have parsed it already."""
    if value is None or isinstance(value, datetime):
        return value
    if isinstance(value, date):
        return datetime.combine(value, time())
    try:
        return datetime.fromisoformat(str(value).strip())
    except ValueError as error:
        problem = f"{str(value)!r} is no time; write YYYY-MM-DD HH:MM:SS, or ISO 8601 with a zone"
        raise SettingError(path, problem) from error
