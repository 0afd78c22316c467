"""What the controller tells others about its forecasts, as JSON. Pure."""

from math import isnan
from typing import Any

import msgspec
import numpy as np

from gputide.autoscaler.demand.model import PodsSource
from gputide.autoscaler.model import FloatArray, Outcome, Prediction, Subject
from gputide.autoscaler.status.numbers import rounded
from gputide.forecast import Verdict
from gputide.forecast.verdict import explain
from gputide.scaling import TargetKind

JsonObject = dict[str, Any]


def summary_of(subject: Subject, outcome: Outcome, *, unit: str) -> JsonObject:
    """Return one workload's newest demand, forecast and decision."""
    autoscaler = subject.autoscaler
    metric = autoscaler.metrics[0]
    return {
        "namespace": subject.key.namespace,
        "name": subject.key.name,
        "uid": subject.uid,
        "metric": metric.name,
        "unit": unit,
        "strategy": autoscaler.policy.strategy.value,
        "target": metric.target,
        "isUtilization": metric.target_kind is TargetKind.UTILIZATION,
        "issuedAt": outcome.decided_at_seconds,
        "leadSeconds": autoscaler.lead_seconds,
        "quantile": autoscaler.quantile,
        "demand": outcome.demands[0].value,
        "forecastDemand": outcome.forecast_demand,
        "desiredReplicas": outcome.desired_replicas,
        "publishedReplicas": outcome.published_replicas,
        "currentReplicas": outcome.current_replicas,
        "minReplicas": outcome.bound.min_replicas,
        "maxReplicas": outcome.bound.max_replicas,
        "boundPath": outcome.bound.path,
        "timeZone": autoscaler.bounds.zone.key,
        "steps": [
            {
                "reason": step.reason.value,
                "replicas": None if isnan(step.replicas) else step.replicas,
                "text": step.text,
            }
            for step in outcome.steps
        ],
    }


def detail_of(
    subject: Subject, outcome: Outcome, prediction: Prediction, *, unit: str
) -> JsonObject:
    """Return the summary with everything that the observer's page shows."""
    band = prediction.band
    start = prediction.past_unix_seconds
    ahead = None
    if band is not None:
        ahead = {
            "startSeconds": float(start[-1]) + prediction.step_seconds if len(start) else 0.0,
            "stepSeconds": prediction.step_seconds,
            "median": numbers(band.median[0]),
            "upper": numbers(band.upper[0]),
            "pods": numbers(prediction.band_pods),
        }
    return summary_of(subject, outcome, unit=unit) | {
        "past": {
            "startSeconds": float(start[0]) if len(start) else 0.0,
            "stepSeconds": prediction.step_seconds,
            "demand": numbers(prediction.past_demand),
            "predicted": numbers(prediction.past_predicted),
            "pods": numbers(prediction.past_pods),
            "predictedPods": numbers(prediction.past_predicted_pods),
        },
        "ahead": ahead,
        "verdict": None if outcome.verdict is None else verdict_of(outcome.verdict),
        "historyText": outcome.history_text,
    }


def verdict_of(verdict: Verdict) -> JsonObject:
    """Return a verdict with its reasons in words."""
    return {
        "isSeasonalInUse": verdict.is_seasonal_in_use,
        "reasons": [reason.value for reason in verdict.reasons],
        "texts": list(explain(verdict)),
        "periodsSeconds": list(verdict.periods_seconds),
        "spanSeconds": verdict.span_seconds,
        "knownRatio": verdict.known_ratio,
        "coverageRatio": verdict.coverage_ratio,
        "pinballLossRatio": verdict.pinball_loss_ratio,
    }


def numbers(values: FloatArray) -> list[float | None]:
    """Return numbers with few digits, None where unknown."""
    return [None if isnan(value) else rounded(value) for value in np.asarray(values).tolist()]


def unit_of_source(source: object) -> str:
    """Return the unit of a source's demand; "" where its owner alone knows."""
    return source.query.unit if isinstance(source, PodsSource) else ""


def encode(value: JsonObject) -> bytes:
    """Return JSON."""
    return msgspec.json.encode(value)
