"""Who competes: the settings of every policy, and from which of them a tuned one may choose."""

from collections.abc import Iterable
from dataclasses import dataclass, replace

import numpy as np

from gputide.backtest.model import PolicyName
from gputide.backtest.policies import contestant, series
from gputide.backtest.policies.contestant import Contestant
from gputide.backtest.settings import BacktestSettings

QUANTILES = (0.9, 0.95, 0.98, 0.99, 0.995, 0.998)
STABILIZATIONS_SECONDS = (300.0, 900.0, 1800.0, 3600.0)
PROACTIVE_TARGETS = (0.8, 0.9, 1.0, 1.1)
NET_TARGETS = (0.8, 0.9)
HPA_TARGETS = tuple(round(float(t), 3) for t in np.geomspace(0.03, 0.95, 30))
REPEAT_TARGETS = tuple(round(float(t), 3) for t in np.geomspace(0.15, 1.0, 8))


@dataclass(frozen=True, slots=True, kw_only=True)
class Tuned:
    """A policy that takes its knobs from a replay of earlier days."""

    policy: PolicyName
    pool: tuple[int, ...]
    """Positions of the settings that it may choose from."""

    default: int
    """What it runs before there is a day to replay."""

    gate: tuple[int, ...] = ()
    """Settings of the plain rule that it falls back to wherever their choice is the cheaper one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Field:
    """All settings in one list, and who shows which of them."""

    settings: tuple[Contestant, ...]
    plain: dict[PolicyName, int]
    """Policies whose row in the table is one fixed setting."""

    tuned: tuple[Tuned, ...]
    curves: dict[PolicyName, tuple[int, ...]]
    """Whose settings make the curve of a policy."""


class _Builder:
    """Collects settings; one that two policies share is replayed once."""

    def __init__(self) -> None:
        self.settings: list[Contestant] = []
        self._position: dict[object, int] = {}
        self.plain: dict[PolicyName, int] = {}
        self.tuned: list[Tuned] = []
        self.curves: dict[PolicyName, tuple[int, ...]] = {}

    def add(self, contestants: Iterable[Contestant]) -> tuple[int, ...]:
        """Return the positions of these settings."""
        positions: dict[int, None] = {}
        for setting in contestants:
            position = self._position.setdefault(setting.identity, len(self.settings))
            if position == len(self.settings):
                self.settings.append(setting)
            positions[position] = None
        return tuple(positions)

    def tune(self, tuned: Tuned) -> None:
        """Let a policy choose from its pool every day; its curve is the pool."""
        self.tuned.append(tuned)
        self.curves[tuned.policy] = tuned.pool


def series_name(quantile: float) -> str:
    """Return the name of gputide's forecast at a quantile."""
    return f"gputide-{quantile:g}"


def forecast_quantiles(settings: BacktestSettings) -> tuple[float, ...]:
    """Return the quantiles that the wanted policies read, ascending."""
    wanted = {settings.quantile}
    if PolicyName.GPUTIDE_TUNED in settings.policies or PolicyName.GPUTIDE in settings.policies:
        wanted.update(QUANTILES)
    return tuple(sorted(wanted))


def build_field(
    settings: BacktestSettings, *, fixed_replicas: float, fixed_sweep: Iterable[float]
) -> Field:
    """Return the field of one workload; fixed sizes depend on its load."""
    builder = _Builder()
    wanted = set(settings.policies)
    _add_hpa(builder, settings)
    _add_gputide(builder, settings)
    _add_naive(builder)
    if PolicyName.FIXED in wanted:
        sizes = [fixed_replicas, *fixed_sweep]
        pool = builder.add(contestant.fixed(size) for size in sizes)
        builder.plain[PolicyName.FIXED] = pool[0]
        builder.curves[PolicyName.FIXED] = pool
    return _only(builder, wanted)


def _add_hpa(builder: _Builder, settings: BacktestSettings) -> None:
    plain = builder.add([contestant.hpa(settings.target_ratio)])
    pools = [
        builder.add(contestant.hpa(t, stabilization_seconds=window) for t in HPA_TARGETS)
        for window in STABILIZATIONS_SECONDS
    ]
    builder.plain[PolicyName.HPA] = plain[0]
    usual = _union(plain, pools[0])
    every = _union(plain, *pools)
    builder.curves[PolicyName.HPA] = usual
    builder.tune(Tuned(policy=PolicyName.HPA_TUNED, pool=usual, default=plain[0]))
    builder.tune(Tuned(policy=PolicyName.HPA_STABILIZED, pool=every, default=plain[0]))


def _add_gputide(builder: _Builder, settings: BacktestSettings) -> None:
    name = series_name(settings.quantile)
    one = builder.add(
        contestant.one_target(name, quantile=settings.quantile, target_ratio=target)
        for target in (settings.target_ratio, *REPEAT_TARGETS)
    )
    builder.plain[PolicyName.GPUTIDE_ONE_TARGET] = one[0]
    builder.curves[PolicyName.GPUTIDE_ONE_TARGET] = one

    def two(quantile: float, target: float, net: float, window: float) -> Contestant:
        return contestant.two_targets(
            series_name(quantile),
            quantile=quantile,
            proactive_target_ratio=target,
            net_target_ratio=net,
            stabilization_seconds=window,
        )

    window = contestant.HPA_STABILIZATION_SECONDS
    target, net = settings.proactive_target_ratio, settings.net_target_ratio
    plain = builder.add([two(settings.quantile, target, net, window)])
    sweep = builder.add(two(quantile, target, net, window) for quantile in QUANTILES)
    builder.plain[PolicyName.GPUTIDE] = plain[0]
    builder.curves[PolicyName.GPUTIDE] = _union(plain, sweep)
    grid = builder.add(
        two(quantile, target, net, window)
        for window in STABILIZATIONS_SECONDS
        for net in NET_TARGETS
        for target in PROACTIVE_TARGETS
        for quantile in QUANTILES
    )
    tuned = Tuned(
        policy=PolicyName.GPUTIDE_TUNED,
        pool=_union(plain, grid),
        default=plain[0],
        gate=builder.curves[PolicyName.HPA],
    )
    builder.tune(tuned)


def _add_naive(builder: _Builder) -> None:
    builder.plain[PolicyName.ORACLE] = builder.add([contestant.oracle(series.ORACLE)])[0]
    builder.curves[PolicyName.ORACLE] = (builder.plain[PolicyName.ORACLE],)
    pools = {
        PolicyName.CRANE: [contestant.crane(series.CRANE, target_ratio=t) for t in REPEAT_TARGETS],
        PolicyName.LAST_DAY: [
            contestant.repeat(PolicyName.LAST_DAY, series.LAST_DAY, target_ratio=t)
            for t in REPEAT_TARGETS
        ],
        PolicyName.LAST_WEEK: [
            contestant.repeat(PolicyName.LAST_WEEK, series.LAST_WEEK, target_ratio=t)
            for t in REPEAT_TARGETS
        ],
    }
    for policy, contestants in pools.items():
        pool = builder.add(contestants)
        builder.tune(Tuned(policy=policy, pool=pool, default=pool[len(pool) // 2]))


def _union(*pools: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted({at for pool in pools for at in pool}))


def _only(builder: _Builder, wanted: set[PolicyName]) -> Field:
    """Return the field without the settings that no wanted policy shows or chooses from."""
    tuned = [t for t in builder.tuned if t.policy in wanted]
    plain = {name: at for name, at in builder.plain.items() if name in wanted}
    curves = {name: pool for name, pool in builder.curves.items() if name in wanted}
    used = {at for t in tuned for at in (*t.pool, *t.gate, t.default)}
    used |= set(plain.values()) | {at for pool in curves.values() for at in pool}
    new = {old: position for position, old in enumerate(sorted(used))}

    def moved(pool: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(new[at] for at in pool)

    return Field(
        settings=tuple(builder.settings[old] for old in sorted(used)),
        plain={name: new[at] for name, at in plain.items()},
        tuned=tuple(
            replace(t, pool=moved(t.pool), gate=moved(t.gate), default=new[t.default])
            for t in tuned
        ),
        curves={name: moved(pool) for name, pool in curves.items()},
    )
