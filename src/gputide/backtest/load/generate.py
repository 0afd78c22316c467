"""The traces that the project makes itself: believable weeks of load, the same for the same seed.

They are what `make run` shows and `make bench` measures by default: tides of people and timetables
whose peaks move and whose days differ, what nobody can foresee, and the accidents of recording.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from gputide.backtest.load.concurrency import MINUTE_SECONDS, busy_by_minute
from gputide.backtest.load.generate_parts import (
    DAY_MINUTES,
    Tide,
    calendar_of,
    drift,
    lose,
    pulses,
    tide,
    trace_of,
)
from gputide.backtest.model import Trace
from gputide.forecast.model import CENSORED_UTILIZATION_RATIO

Maker = Callable[[np.random.Generator], Trace]

OFFICE = Tide(bumps=((10.5, 2.0, 1.0), (15.0, 2.4, 0.9)), floor=0.12, weekend=0.25)
EVENING = Tide(bumps=((20.5, 2.6, 1.0), (12.5, 1.6, 0.5)), floor=0.1, weekend=1.15)


def generated_traces(seed: int = 1) -> tuple[Trace, ...]:
    """Return twelve workloads of 16 to 21 days of minutes, in the order of `MAKERS`."""
    # One stream each: a workload stays as it is when another is added or changed.
    return tuple(
        make(np.random.default_rng((seed, index))) for index, make in enumerate(MAKERS.values())
    )


def _daily_tide(rng: np.random.Generator) -> Trace:
    """Make a consumers' assistant: evenings lead, days are alike; three gaps of hours."""
    calendar = calendar_of(21, "Asia/Shanghai")
    demand = 24 * tide(rng, calendar, EVENING) * (1 + drift(rng, len(calendar.local), 20, 0.05))
    demand = lose(
        demand, spans=[(int(rng.integers(2, 19)) * DAY_MINUTES + at, n) for at, n in GAPS]
    )
    return trace_of("daily-tide", demand, calendar)


def _weekdays_and_weekend(rng: np.random.Generator) -> Trace:
    """Make a company's tool: humps on weekdays, a change of clocks at the end, one day lost."""
    calendar = calendar_of(21, "Europe/Berlin")
    demand = 40 * tide(rng, calendar, OFFICE) * (1 + drift(rng, len(calendar.local), 15, 0.06))
    return trace_of(
        "weekdays-and-weekend", lose(demand, spans=[(8 * DAY_MINUTES, DAY_MINUTES)]), calendar
    )


def _hourly_batch(rng: np.random.Generator) -> Trace:
    """Make a batch at five past each hour, longest at two at night, over a thin base load."""
    calendar = calendar_of(18, "UTC")
    hours = np.arange(18 * 24)
    starts = 60 * hours + 5 + rng.gamma(2.0, 0.7, len(hours))
    lengths = np.where(hours % 24 == 2, 41, 11) * rng.lognormal(0, 0.15, len(hours))
    batch = pulses(len(calendar.local), starts, lengths, 6 * rng.lognormal(0, 0.06, len(hours)))
    base = 0.8 * (1 + drift(rng, len(batch), 30, 0.15))
    return trace_of("hourly-batch", batch + base, calendar)


def _growth(rng: np.random.Generator) -> Trace:
    """Make a young service that grows by four percent a day; two percent of minutes are lost."""
    calendar = calendar_of(21, "America/New_York")
    demand = 6 * tide(rng, calendar, EVENING) * 1.04 ** (calendar.local / DAY_MINUTES)
    demand *= 1 + drift(rng, len(demand), 12, 0.07)
    return trace_of("growth", lose(demand, rng=rng, ratio=0.02), calendar)


def _level_shift(rng: np.random.Generator) -> Trace:
    """Make a large customer join within three hours of the twelfth day, and stay."""
    calendar = calendar_of(20, "UTC")
    joined = np.clip((calendar.local - (11 * DAY_MINUTES + 840)) / 180, 0, 1)
    demand = 15 * tide(rng, calendar, OFFICE) * (1 + 0.9 * joined)
    return trace_of("level-shift", demand * (1 + drift(rng, len(demand), 25, 0.05)), calendar)


def _special_day(rng: np.random.Generator) -> Trace:
    """Make an event on the sixteenth evening, announced to nobody, and some broken readings."""
    calendar = calendar_of(20, "Asia/Shanghai")
    demand = 18 * tide(rng, calendar, EVENING)
    since = (calendar.local - (15 * DAY_MINUTES + 19 * 60)) / 60
    demand *= 1 + 1.7 * np.exp(-0.5 * (since / 1.4) ** 2)
    demand *= 1 + drift(rng, len(demand), 20, 0.05)
    broken = rng.integers(0, len(demand), 6)
    demand[broken] *= rng.uniform(3, 8, len(broken))
    return trace_of("special-day", demand, calendar)


def _bursts(rng: np.random.Generator) -> Trace:
    """Make mentions of a brand: a low murmur, and bursts of any height that fade in an hour."""
    calendar = calendar_of(18, "UTC")
    size = len(calendar.local)
    heights = np.zeros(size)
    starts = rng.integers(0, size, rng.poisson(7 * 18))
    np.add.at(heights, starts, 2 * (1 + rng.pareto(1.6, len(starts))).clip(max=40))
    fading = np.exp(-np.arange(180) / 14)
    murmur = 1.2 * tide(rng, calendar, replace(OFFICE, floor=0.5, weekend=0.9))
    demand = np.convolve(heights, fading)[:size] + murmur * (1 + drift(rng, size, 5, 0.2))
    return trace_of("bursts", demand, calendar)


def _intermittent(rng: np.random.Generator) -> Trace:
    """Make jobs that people start when they like; idle in between."""
    calendar = calendar_of(16, "UTC")
    size = len(calendar.local)
    jobs = rng.poisson(5 * 16)
    gpus = rng.choice([1.0, 2.0, 4.0], jobs) * rng.uniform(0.85, 0.99, jobs)
    demand = pulses(size, rng.uniform(0, size, jobs), 38 * rng.lognormal(0, 0.8, jobs), gpus)
    return trace_of("intermittent", demand, calendar)


def _flat(rng: np.random.Generator) -> Trace:
    """Make a queue that is never empty: always the same load."""
    calendar = calendar_of(16, "UTC")
    return trace_of("flat", 7.5 * (1 + drift(rng, len(calendar.local), 3, 0.008)), calendar)


def _random_walk(rng: np.random.Generator) -> Trace:
    """Make a load that wanders without a season; ten gaps of minutes."""
    calendar = calendar_of(17, "UTC")
    size = len(calendar.local)
    demand = 10 * np.exp(drift(rng, size, 600, 0.45)) * (1 + drift(rng, size, 2, 0.03))
    gaps = [
        (int(at), int(n)) for at, n in zip(rng.integers(0, size - 60, 10), GAP_MINUTES, strict=True)
    ]
    return trace_of("random-walk", lose(demand, spans=gaps), calendar)


def _request_noise(rng: np.random.Generator) -> Trace:
    """Make single requests for a few GPUs: the smaller the service, the wilder its minutes."""
    calendar = calendar_of(21, "Asia/Shanghai")
    per_minute = 7 * tide(rng, calendar, replace(OFFICE, weekend=0.6))
    arrivals = rng.poisson(per_minute)
    minute = np.repeat(np.arange(len(arrivals)), arrivals)
    starts = (minute + rng.random(len(minute))) * MINUTE_SECONDS
    seconds = 21 * rng.lognormal(0, 0.7, len(minute))
    demand = busy_by_minute(starts, seconds, first_seconds=0, minutes=len(arrivals))
    return trace_of("request-noise", demand, calendar)


def _saturating(rng: np.random.Generator) -> Trace:
    """Make eight GPUs too few at the peaks: their utilization then says no more than `at least`."""
    calendar = calendar_of(18, "UTC")
    wanted = 8.7 * tide(rng, calendar, replace(OFFICE, weekend=0.7))
    wanted *= 1 + drift(rng, len(wanted), 10, 0.06)
    demand = np.minimum(wanted, 8 * (1 - 0.02 * rng.random(len(wanted))))
    made = trace_of("saturating-gpus", demand, calendar)
    return replace(
        made,
        replicas=np.full(len(demand), 8.0),
        is_censored=made.demand >= 8 * CENSORED_UTILIZATION_RATIO,
    )


GAPS = ((300, 95), (760, 180), (1130, 240))
GAP_MINUTES = (2, 3, 3, 4, 5, 8, 12, 20, 35, 60)

MAKERS: dict[str, Maker] = {
    "daily-tide": _daily_tide,
    "weekdays-and-weekend": _weekdays_and_weekend,
    "hourly-batch": _hourly_batch,
    "growth": _growth,
    "level-shift": _level_shift,
    "special-day": _special_day,
    "bursts": _bursts,
    "intermittent": _intermittent,
    "flat": _flat,
    "random-walk": _random_walk,
    "request-noise": _request_noise,
    "saturating-gpus": _saturating,
}
