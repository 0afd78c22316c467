"""Random policies and situations, for laws that must hold in all of them."""

from dataclasses import replace
from math import inf, nan

import numpy as np
from hypothesis import strategies as st

from gputide.scaling import (
    HPA_DOWN,
    HPA_UP,
    Direction,
    Limit,
    LimitKind,
    PodUsage,
    Policy,
    Select,
    Situation,
    Strategy,
)
from unit.scaling.scalar import Row

seeds = st.integers(0, 2**32 - 1).map(np.random.default_rng)
"""A world is drawn from a seed: hundreds of numbers would take hypothesis longer than the tests."""


def pick(rng: np.random.Generator, *options: object) -> object:
    return options[rng.integers(len(options))]


def amount(rng: np.random.Generator) -> float:
    odd = pick(rng, 0.0, 0.3, 1.1, 1.8, 18.0, 189.0, None, None, None)
    return round(float(rng.uniform(0, pick(rng, 3, 40, 300))), 3) if odd is None else float(odd)


def some_direction(rng: np.random.Generator) -> Direction:
    limits = [
        Limit(
            kind=LimitKind(pick(rng, *LimitKind)),
            value=float(pick(rng, 1, 2, 4, 10, 50, 100, 200)),
            period_seconds=float(pick(rng, 15, 30, 60, 600)),
        )
        for _ in range(rng.integers(4))
    ]
    made = Direction(
        stabilization_seconds=float(pick(rng, 0, 15, 60, 300, 1800)),
        limits=tuple(limits),
        select=Select(pick(rng, *Select)),
    )
    return pick(rng, HPA_UP, HPA_DOWN, Direction(), made, made, made)


def some_policy(rng: np.random.Generator) -> Policy:
    targets = (0.2, 0.7, 0.9, 1.0, 20.0)
    ratios = (0.0, 0.0, 0.1, 0.25)
    return Policy(
        strategy=Strategy(pick(rng, *Strategy)),
        proactive_target=pick(rng, *targets),
        reactive_target=pick(rng, *targets),
        is_utilization=pick(rng, True, False),
        tolerance_up_ratio=pick(rng, *ratios),
        tolerance_down_ratio=pick(rng, *ratios),
        up=some_direction(rng),
        down=some_direction(rng),
        dead_band_ratio=pick(rng, *ratios),
        forecast_cap_ratio=pick(rng, inf, 1.25, 1.0),
        recovery_grace_seconds=pick(rng, 0, 30, 120),
        is_forecast_scale_in=pick(rng, True, False),
    )


def some_row(rng: np.random.Generator, *, now: float = 0.0, current: float | None = None) -> Row:
    low = float(pick(rng, 0, 0, 1, 5, 20))
    return Row(
        now=now,
        current=float(rng.integers(0, 60)) if current is None else current,
        low=low,
        high=low + float(rng.integers(1, 60)),
        is_fresh=pick(rng, True, True, True, False),
        is_complete=pick(rng, True, True, True, False),
        forecast=pick(rng, nan, amount(rng), amount(rng)),
        peak=pick(rng, nan, amount(rng)),
        demand=pick(rng, nan, amount(rng)),
        usage=pick(rng, nan, amount(rng), amount(rng), amount(rng)),
        ready=float(rng.integers(0, 30)),
        unready=float(pick(rng, 0, 0, 1, 3)),
        missing=float(pick(rng, 0, 0, 1, 3)),
        other=pick(rng, 0.0, 0.0, 0.0, 5.0, nan),
    )


def some_moments(rng: np.random.Generator, *, count: int, moments: int) -> list[list[Row]]:
    """`[t][row]`; the replicas are set by whoever runs them."""
    now, made = 0.0, []
    for _ in range(moments):
        now += float(pick(rng, 1, 14, 15, 15, 45, 300))
        made.append([some_row(rng, now=now) for _ in range(count)])
    return made


def with_replicas(found: list[Row], current: list[float]) -> list[Row]:
    return [replace(one, current=replicas) for one, replicas in zip(found, current, strict=True)]


def situation_of(found: list[Row]) -> Situation:
    """The arrays of some rows at one moment."""

    def column(name: str) -> np.ndarray:
        return np.array([getattr(row, name) for row in found], np.float64)

    return Situation(
        now_seconds=found[0].now,
        current=column("current"),
        min_replicas=column("low"),
        max_replicas=column("high"),
        is_fresh=column("is_fresh").astype(bool),
        is_complete=column("is_complete").astype(bool),
        forecast_upper=column("forecast"),
        recent_peak=column("peak"),
        demand=column("demand"),
        pods=PodUsage(
            usage=column("usage"),
            ready=column("ready"),
            unready=column("unready"),
            missing=column("missing"),
        ),
        other_needs=column("other"),
    )
