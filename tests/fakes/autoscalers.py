"""Autoscalers with their workloads, and a source of demand that says what the test wants."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from gputide.autoscaler.demand.model import Answer, FloatArray, Past, PastRequest, Source
from gputide.autoscaler.model import DemandState, Key, Obstacle, Pod, Subject, Target
from gputide.scaling import read_autoscaler

NOW = 1_790_000_040.0  # on a whole minute
MINUTE = 60.0


def autoscaler_object(name: str = "web", **spec: object) -> dict[str, Any]:
    """Return a resource on GPU utilization with target 20 %, as the API server has it."""
    target = {"type": "Utilization", "averageUtilization": 20}
    return {
        "apiVersion": "autoscaling.alibabacloud.com/v1beta1",
        "kind": "AdvancedHorizontalPodAutoscaler",
        "metadata": {
            "name": name,
            "namespace": "default",
            "uid": f"uid-{name}",
            "generation": 1,
            "creationTimestamp": "2026-01-01T00:00:00Z",
        },
        "spec": {
            "scaleTargetRef": {"apiVersion": "apps/v1", "kind": "Deployment", "name": name},
            "metrics": [{"type": "Resource", "resource": {"name": "gpu", "target": target}}],
            "minReplicas": 1,
            "maxReplicas": 50,
            "scaleStrategy": "auto",
            **spec,
        },
    }


def subject(
    name: str = "web",
    *,
    replicas: int = 4,
    ready: int | None = None,
    requests: Mapping[str, float] | None = None,
    obstacle: Obstacle | None = None,
    has_target: bool = True,
    uid: str = "",
    **spec: object,
) -> Subject:
    """Return an autoscaler with its pods `NAME-0`, `NAME-1`, ...; the first `ready` are ready."""
    count = replicas if ready is None else ready
    pods = tuple(Pod(name=f"{name}-{n}", is_ready=n < count) for n in range(replicas))
    return Subject(
        key=Key(namespace="default", name=name),
        uid=uid or f"uid-{name}",
        autoscaler=read_autoscaler(autoscaler_object(name, **spec)),
        target=Target(
            replicas=replicas,
            pods=pods,
            requests={"nvidia.com/gpu": 1.0} if requests is None else requests,
        )
        if has_target
        else None,
        obstacle=obstacle,
        obstacle_text="in the way" if obstacle else "",
    )


@dataclass
class FakeDemand:
    """One fake for the port `DemandSource`: `pods` are what every PodsSource answers."""

    pods: dict[str, float] = field(default_factory=dict)
    """Value by pod's name."""

    value: float | None = None
    """What every other source answers."""

    state: DemandState = DemandState.FRESH
    duplicates: set[str] = field(default_factory=set)
    history: Callable[[Any, FloatArray], FloatArray] | None = None
    """From row and minutes `[T]` to values; None: the past cannot be asked for."""

    problem: str = "Prometheus is away"
    reads: list[tuple[Source, ...]] = field(default_factory=list)
    pasts: list[tuple[int, int, int]] = field(default_factory=list)
    """Rows, start and end of each question about the past."""

    async def read(
        self, sources: Sequence[Source], *, now_seconds: float
    ) -> Mapping[Source, Answer]:
        self.reads.append(tuple(sources))
        return {one: self._answer(now_seconds) for one in sources}

    def _answer(self, now_seconds: float) -> Answer:
        if self.state is not DemandState.FRESH:
            return Answer(at_seconds=now_seconds, state=self.state, text="said by the fake")
        return Answer(
            at_seconds=now_seconds,
            pods={("default", name): value for name, value in self.pods.items()},
            value=self.value,
            duplicates=frozenset(("default", name) for name in self.duplicates),
        )

    async def past(
        self, requests: Sequence[PastRequest], *, start_seconds: int, end_seconds: int
    ) -> Past:
        self.pasts.append((len(requests), start_seconds, end_seconds))
        if self.history is None:
            return Past(problem=self.problem)
        minutes = np.arange(start_seconds // 60, end_seconds // 60 + 1)
        return Past(rows={one.row: self.history(one.row, minutes) for one in requests})

    async def past_pods(
        self, request: PastRequest, *, start_seconds: int, end_seconds: int
    ) -> FloatArray | None:
        del request
        count = end_seconds // 60 - start_seconds // 60 + 1
        return np.full(count, 4.0)

    def use(self, total: float, one: Subject) -> None:
        """Have the subject's ready pods use so much in all, evenly."""
        assert one.target is not None
        ready = [pod.name for pod in one.target.pods if pod.is_ready]
        self.pods.update(dict.fromkeys(ready, total / len(ready)) if ready else {})


def tide(_row: object, minutes: FloatArray) -> FloatArray:
    """Return a clean daily tide between 0.2 and 1.0 busy GPUs."""
    return 0.6 + 0.4 * np.sin(minutes * np.pi / 720)
