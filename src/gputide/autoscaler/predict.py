"""Everything that the observer's page shows of one workload, made when somebody asks."""

import asyncio

import numpy as np

from gputide.autoscaler.demand.model import PodsSource
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.history.ring import STEP_SECONDS
from gputide.autoscaler.model import FloatArray, Key, Prediction
from gputide.autoscaler.outlook.fit import Terms, local_history
from gputide.autoscaler.rows import Row
from gputide.autoscaler.upkeep import past_request
from gputide.forecast import DayBand, Lead, forecast_day
from gputide.forecast.lead import replay_lead
from gputide.scaling.rounding import ceil_replicas

SHOWN_MINUTES = 7 * 1440
WARM_UP_MINUTES = 1440


async def predict(engine: AutoscalerEngine, key: Key, *, now_seconds: float) -> Prediction | None:
    """Return the page's data; None for an unknown workload, or one without any minute yet."""
    row = engine.rows.by_key.get(key)
    minute = engine.ring.newest_minute
    if row is None or minute is None:
        return None
    count = min(SHOWN_MINUTES, engine.ring.minutes)
    values = engine.ring.last([row.ring_row], count)[0]
    autoscaler = row.subject.autoscaler
    entry = engine.book.get(key)
    past_pods = await _past_pods(engine, row, minute, count)
    nothing = np.full(count, np.nan)
    predicted, band = nothing, None
    if entry is not None:
        predicted, band = await asyncio.to_thread(_forecast, values, minute, entry.terms)
    times = (minute - count + 1 + np.arange(count)) * float(STEP_SECONDS)
    target = autoscaler.policy.proactive_target
    utc_minutes = (times // 60).astype("datetime64[m]")
    bounds = autoscaler.bounds.over(utc_minutes)
    with np.errstate(invalid="ignore"):
        wanted = np.fmax(ceil_replicas(predicted / target), ceil_replicas(values / target))
        bounded = np.minimum(np.maximum(wanted, bounds.min_replicas), bounds.max_replicas)
    pods_ahead = np.empty(0) if band is None else ceil_replicas(band.upper[0] / target)
    source = row.wanted[0].source if row.wanted else None
    return Prediction(
        key=key,
        issued_at_seconds=now_seconds,
        unit=source.query.unit if isinstance(source, PodsSource) else "",
        quantile=autoscaler.quantile,
        step_seconds=STEP_SECONDS,
        past_unix_seconds=times.astype(np.float64),
        past_demand=values,
        past_predicted=predicted,
        past_pods=past_pods,
        past_predicted_pods=np.where(np.isnan(wanted), np.nan, bounded),
        band=band,
        band_pods=pods_ahead,
    )


def _forecast(
    values: FloatArray, newest_minute: int, terms: Terms
) -> tuple[FloatArray, DayBand | None]:
    """Return what was forecast for each minute `[T]` before it came, and the coming day."""
    known = np.flatnonzero(~np.isnan(values))
    nothing = np.full(len(values), np.nan)
    if not len(known):
        return nothing, None
    first = int(known[0])  # a young history must not be padded with days that nobody saw
    history = local_history(values[None, first:], newest_minute, terms.zone)
    band = forecast_day(history, quantile=terms.quantile)
    total = history.values.shape[1]
    warm_up = min(WARM_UP_MINUTES, total // 2)
    if warm_up < 1:
        return nothing, band
    lead = Lead(first_step=1, last_step=terms.lead_steps)
    issued = replay_lead(history, lead=lead, quantiles=[terms.quantile], first_step=warm_up)[0, 0]
    shown = nothing.copy()
    # the local clock may hold an hour more or less than UTC: the newest minutes are the same ones
    length = min(len(issued), len(values))
    shown[len(values) - length :] = issued[len(issued) - length :]
    return shown, band


async def _past_pods(engine: AutoscalerEngine, row: Row, minute: int, count: int) -> FloatArray:
    """Return how many pods ran each minute, not a number where nobody knows."""
    request = past_request(row)
    nothing = np.full(count, np.nan)
    if request is None:
        return nothing
    start = (minute - count + 1) * STEP_SECONDS
    found = await engine.source.past_pods(
        request, start_seconds=start, end_seconds=minute * STEP_SECONDS
    )
    return nothing if found is None or len(found) != count else found
