"""How the autoscaler grows: round, memory and first load at 1k, 3k and 10k workloads.

    python bench/autoscaler.py [WORKLOADS ...]

Each size runs in a process of its own, on one core. Prometheus is simulated in the process: its
answers are made, decoded values, so that what is timed is the engine alone; the line `query` adds
what decoding the same instant answer from JSON costs.
"""

import asyncio
import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from gputide.autoscaler.demand.model import Answer, Past, PastRequest, PodKey, Source
from gputide.autoscaler.engine import AutoscalerEngine
from gputide.autoscaler.model import Key, Pod, Subject, Target
from gputide.autoscaler.settings import EngineSettings
from gputide.autoscaler.status.build import build_status
from gputide.autoscaler.status.changes import Due, due
from gputide.autoscaler.upkeep import Upkeep
from gputide.clock import SystemClock
from gputide.prometheus.decode import decode_answer, decode_instant
from gputide.scaling import read_autoscaler

SIZES = (1_000, 3_000, 10_000)
PODS = 4
DAYS = 7
START_SECONDS = 1_790_000_040
ROUNDS = 5


def autoscaler_object(number: int) -> dict[str, Any]:
    """Return the resource of one workload."""
    return {
        "apiVersion": "autoscaling.alibabacloud.com/v1beta1",
        "kind": "AdvancedHorizontalPodAutoscaler",
        "metadata": {"name": f"web-{number}", "namespace": f"team-{number % 50}"},
        "spec": {
            "scaleTargetRef": {"kind": "Deployment", "name": f"web-{number}"},
            "metrics": [
                {
                    "type": "Resource",
                    "resource": {
                        "name": "gpu",
                        "target": {"type": "Utilization", "averageUtilization": 40},
                    },
                }
            ],
            "minReplicas": 1,
            "maxReplicas": 50,
            "scaleStrategy": "auto",
            "prediction": {"quantile": 95, "scaleUpForward": 180},
        },
    }


def subject(number: int) -> Subject:
    """Return one workload with its pods."""
    autoscaler = read_autoscaler(autoscaler_object(number))
    pods = tuple(
        Pod(name=f"web-{number}-abcdef1234-{place}xyzq", is_ready=True) for place in range(PODS)
    )
    return Subject(
        key=Key(namespace=autoscaler.namespace, name=autoscaler.name),
        uid=str(number),
        autoscaler=autoscaler,
        target=Target(replicas=PODS, pods=pods, requests={"nvidia.com/gpu": 1.0}),
    )


class SimulatedPrometheus:
    """A daily tide for each workload, another phase and height for each."""

    def __init__(self, subjects: Sequence[Subject]) -> None:
        self._phase = {one.key: place * 7.0 for place, one in enumerate(subjects)}
        self._pods: list[tuple[PodKey, Key]] = [
            ((one.key.namespace, pod.name), one.key)
            for one in subjects
            for pod in (one.target.pods if one.target else ())
        ]
        self._random = np.random.default_rng(1)

    async def read(
        self, sources: Sequence[Source], *, now_seconds: float
    ) -> Mapping[Source, Answer]:
        """Return what each pod uses now."""
        minute = now_seconds / 60
        pods = {
            key: 0.2 + 0.1 * np.sin((minute + self._phase[owner]) * np.pi / 720)
            for key, owner in self._pods
        }
        return {one: Answer(at_seconds=now_seconds, pods=pods) for one in sources}

    async def past(
        self, requests: Sequence[PastRequest], *, start_seconds: int, end_seconds: int
    ) -> Past:
        """Return a week of a tide with noise."""
        minutes = np.arange(start_seconds // 60, end_seconds // 60 + 1)
        rows = {}
        for one in requests:
            tide = 0.8 + 0.4 * np.sin((minutes + self._phase[one.row]) * np.pi / 720)
            noise = self._random.normal(0, 0.05, len(minutes))
            rows[one.row] = np.maximum(tide + noise, 0)
        return Past(rows=rows)

    async def past_pods(self, *_: object, **__: object) -> None:
        """Know nothing of pods."""
        return


def resident_mebibytes() -> float:
    """Return the most memory that this process had."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


async def measure(count: int) -> dict[str, float]:
    """Return the figures of one size."""
    subjects = [subject(number) for number in range(count)]
    empty = resident_mebibytes()
    engine = AutoscalerEngine(SimulatedPrometheus(subjects), EngineSettings(history_days=DAYS))
    upkeep = Upkeep(engine, SystemClock())
    started = time.perf_counter()
    await engine.round(subjects, now_seconds=START_SECONDS)
    while await upkeep.once():
        pass
    first_load = time.perf_counter() - started
    seconds = []
    statuses: dict[Key, Any] = {}
    writes = 0
    for number in range(1, ROUNDS + 1):
        now = START_SECONDS + 60 * number  # each is the first of its minute: the dear one
        started = time.perf_counter()
        outcomes = await engine.round(subjects, now_seconds=now)
        for one, outcome in zip(subjects, outcomes, strict=True):
            before = statuses.get(one.key, {})
            after = build_status(one, outcome, before, generation=1)
            if due(before, after, since_write_seconds=60.0 if before else None) is not Due.NOT:
                statuses[one.key] = after
                writes += 1
        seconds.append(time.perf_counter() - started)
    started = time.perf_counter()
    await engine.round(subjects, now_seconds=now + 15)
    within = time.perf_counter() - started
    return {
        "workloads": count,
        "first load s": first_load,
        "round s": sorted(seconds)[ROUNDS // 2],
        "round within a minute s": within,
        "query s": decode_seconds(count),
        "resident MiB": resident_mebibytes(),
        "of it objects MiB": empty,
        "forecasts": sum(outcome.forecast_demand is not None for outcome in outcomes),
    }


def decode_seconds(count: int) -> float:
    """Return what decoding the instant answer of all pods costs."""
    result = [
        {
            "metric": {"namespace": f"team-{n % 50}", "pod": f"web-{n}-abcdef1234-{p}xyzq"},
            "value": [START_SECONDS, "0.25"],
        }
        for n in range(count)
        for p in range(PODS)
    ]
    body = json.dumps(
        {"status": "success", "data": {"resultType": "vector", "result": result}}
    ).encode()
    started = time.perf_counter()
    decode_instant(decode_answer(body), "x")
    return time.perf_counter() - started


def main() -> None:
    """Print a table, a process a size."""
    if os.environ.get("GPUTIDE_BENCH_SIZE"):
        print(json.dumps(asyncio.run(measure(int(os.environ["GPUTIDE_BENCH_SIZE"])))))
        return
    sizes = [int(text) for text in sys.argv[1:]] or list(SIZES)
    heads: list[str] = []
    for size in sizes:
        done = subprocess.run(  # noqa: S603  this very file
            ["/usr/bin/taskset", "-c", "0", sys.executable, __file__],
            env={**os.environ, "GPUTIDE_BENCH_SIZE": str(size)},
            check=True,
            capture_output=True,
            text=True,
        )
        found = json.loads(done.stdout)
        if not heads:
            heads = list(found)
            print(" | ".join(heads))
        print(" | ".join(f"{found[head]:,.3g}" for head in heads), flush=True)


if __name__ == "__main__":
    main()
