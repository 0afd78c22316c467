"""The two charts that people decide by: demand and pods, actual beside predicted."""

from dataclasses import dataclass

from gputide.charts.model import Chart, Color, FloatArray, Line, Section
from gputide.charts.texts import LANGUAGES, Language


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Forecasted:
    """What came and what was predicted for it, on the same times: `[T]` each, NaN where unknown."""

    unix_seconds: FloatArray
    demand: FloatArray
    predicted_demand: FloatArray
    pods: FloatArray
    predicted_pods: FloatArray
    unit: str
    """Of the demand."""

    time_zone: str = "UTC"
    pods_label: str = ""
    """What the blue pods are called where they are not the actual ones."""

    name: str = ""
    """Joins the two charts' cursors; several workloads on a page need several names."""


def observer_charts(
    forecasted: Forecasted, language: Language = "en", *, more_pods: tuple[Line, ...] = ()
) -> tuple[Chart, Chart]:
    """Return the demand chart and the pod chart; `more_pods` are further lines of the latter."""
    texts = LANGUAGES[language]
    group = f"observer {forecasted.name}"
    demand = Chart(
        title=texts.gpu_title,
        meaning=texts.gpu_meaning,
        unit=forecasted.unit,
        unix_seconds=forecasted.unix_seconds,
        time_zone=forecasted.time_zone,
        group=group,
        lines=(
            _actual(texts.gpu_actual, forecasted.demand, is_stepped=False),
            _predicted(texts.gpu_predicted, forecasted.predicted_demand, is_stepped=False),
        ),
    )
    pods = Chart(
        title=texts.pod_title,
        meaning=texts.pod_meaning,
        unit=texts.pods,
        unix_seconds=forecasted.unix_seconds,
        time_zone=forecasted.time_zone,
        group=group,
        lines=(
            _actual(forecasted.pods_label or texts.pod_actual, forecasted.pods, is_stepped=True),
            _predicted(texts.pod_predicted, forecasted.predicted_pods, is_stepped=True),
            *more_pods,
        ),
    )
    return demand, pods


def observer_sections(
    forecasted: Forecasted, language: Language = "en", *, anchor: str = "observer", title: str = ""
) -> tuple[Section, ...]:
    """Return the section that holds the two charts, as `predictionsobserver` shows it."""
    charts = observer_charts(forecasted, language)
    return (Section(title=title or LANGUAGES[language].observer, anchor=anchor, blocks=charts),)


def _actual(label: str, values: FloatArray, *, is_stepped: bool) -> Line:
    return Line(
        label=label, values=values, color=Color.ACTUAL, is_stepped=is_stepped, is_filled=True
    )


def _predicted(label: str, values: FloatArray, *, is_stepped: bool) -> Line:
    return Line(label=label, values=values, color=Color.PREDICTED, is_stepped=is_stepped)
