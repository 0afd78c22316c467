"""What an autoscaler's forecast endpoint answers, and an endpoint that does."""

import json
from typing import Any
from urllib.parse import urlsplit

from fakes.http_server import Request, Responder, response

NOW = 1_772_409_600.0
MINUTES = 3 * 24 * 60


def summary(name: str = "fib-gpu", **changes: Any) -> dict[str, Any]:  # noqa: ANN401 any JSON
    """Return the newest round of one autoscaler: 189 % of demand at a target of 20 %."""
    return {
        "namespace": "default",
        "name": name,
        "uid": "u-1",
        "metric": "gpu",
        "unit": "ratio",
        "strategy": "observer",
        "target": 0.2,
        "isUtilization": True,
        "issuedAt": NOW - 20,
        "leadSeconds": 180,
        "quantile": 0.95,
        "demand": 1.89,
        "forecastDemand": 2.345,
        "desiredReplicas": 12,
        "publishedReplicas": 12,
        "currentReplicas": 4,
        "minReplicas": 10,
        "maxReplicas": 50,
        "boundPath": "spec.instanceBounds[0].bounds[1]",
        "timeZone": "Asia/Shanghai",
        "steps": [
            {"reason": "Forecast", "replicas": 12, "text": "2.345 at target 0.2 needs 12 pods"},
            {"reason": "Observer", "replicas": None, "text": "nothing is written <b>here</b>"},
        ],
    } | changes


def detail(name: str = "fib-gpu", **changes: Any) -> dict[str, Any]:  # noqa: ANN401 any JSON
    """Return three days of minutes, and a day ahead of 5 minutes each."""
    wave = [1 + (minute % 1440) / 1440 for minute in range(MINUTES)]
    return (
        summary(name)
        | {
            "past": {
                "startSeconds": NOW - MINUTES * 60,
                "stepSeconds": 60,
                "demand": [None, *wave[1:]],
                "predicted": [value * 1.1 for value in wave],
                "pods": [4.0] * MINUTES,
                "predictedPods": [value * 5 // 1 for value in wave],
            },
            "ahead": {
                "startSeconds": NOW,
                "stepSeconds": 300,
                "median": [1.0] * 288,
                "upper": [1.5] * 288,
                "pods": [8.0] * 288,
            },
            "verdict": {
                "isSeasonalInUse": True,
                "reasons": ["Seasonal"],
                "texts": ["A day was found: periods of 1 d"],
                "periodsSeconds": [86400.0],
                "spanSeconds": 259200.0,
                "knownRatio": 0.9998,
                "coverageRatio": 0.96,
                "pinballLossRatio": None,
            },
            "historyText": "",
        }
        | changes
    )


def autoscaler(*details: dict[str, Any], token: str = "") -> Responder:
    """Return what answers as an autoscaler with these forecasts."""

    def answer(request: Request) -> bytes:
        if token and request.headers.get("authorization") != f"Bearer {token}":
            return response(b'{"error": "who are you?"}', "401 Unauthorized")
        parts = urlsplit(request.target).path.strip("/").split("/")
        if parts == ["v1", "forecasts"]:
            keys = set(summary())
            items = [{key: value for key, value in d.items() if key in keys} for d in details]
            return response(json.dumps({"items": items}).encode())
        for one in details:
            if parts == ["v1", "forecasts", one["namespace"], one["name"]]:
                return response(json.dumps(one).encode())
        return response(b'{"error": "no such autoscaler"}', "404 Not Found")

    return answer
