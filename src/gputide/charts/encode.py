"""Charts as the numbers that the page's script draws, and as the sentences that it reads aloud."""

import numpy as np

from gputide.charts.markup import Markup, element
from gputide.charts.model import Chart, Curve, FloatArray, Line, Scatter
from gputide.charts.numbers import number, percent, rounded
from gputide.charts.texts import Texts
from gputide.charts.thin import Thinned


def chart_data(thinned: Thinned, texts: Texts) -> dict[str, object]:
    """Return the chart as JSON-able values; times as start and step where they are regular."""
    chart = thinned.chart
    return {
        "kind": "lines",
        "title": chart.title,
        "unit": chart.unit,
        "zone": chart.time_zone,
        "group": chart.group,
        "times": _times(chart.unix_seconds),
        "lines": [_line(line) for line in chart.lines],
        "texts": _texts(texts),
    }


def _times(seconds: FloatArray) -> dict[str, object]:
    if len(seconds) > 1:
        step = (seconds[-1] - seconds[0]) / (len(seconds) - 1)
        if np.allclose(np.diff(seconds), step, rtol=0, atol=1e-3 * step):
            return {"start": float(seconds[0]), "step": float(step), "count": len(seconds)}
    return {"list": seconds.tolist()}


def _line(line: Line) -> dict[str, object]:
    encoded: dict[str, object] = {
        "label": line.label,
        "color": str(line.color),
        "values": rounded(line.values),
        "stepped": line.is_stepped,
        "filled": line.is_filled,
        "hidden": line.is_hidden,
    }
    if line.lower is not None:
        encoded["lower"] = rounded(line.lower)
    return encoded


def chart_summary(chart: Chart, thinned: Thinned, texts: Texts) -> list[Markup]:
    """Return what the chart shows, in sentences: from the whole data, not the thinned."""
    sentences = [_summary(line, chart.unit, texts) for line in chart.lines if not line.is_hidden]
    notes = [texts.zone.format(zone=chart.time_zone)]
    if thinned.bucket > 1:
        step = (chart.unix_seconds[-1] - chart.unix_seconds[0]) / (len(chart.unix_seconds) - 1)
        minutes = number(thinned.bucket * step / 60)
        notes.append(texts.thinned.format(minutes=minutes))
    return [element("span", sentence) for sentence in [*sentences, " ".join(notes)]]


def _summary(line: Line, unit: str, texts: Texts) -> str:
    is_known = np.isfinite(line.values)
    if not is_known.any():
        return f"{line.label}: {texts.no_data}"
    known = line.values[is_known]
    sentence = texts.summary.format(
        label=line.label,
        least=number(known.min()),
        most=f"{number(known.max())} {unit}".rstrip(),
        mean=number(known.mean()),
    )
    if is_known.all():
        return sentence
    return sentence + texts.summary_unknown.format(share=percent(float(1 - is_known.mean())))


def scatter_data(scatter: Scatter, texts: Texts) -> dict[str, object]:
    """Return the scatter as JSON-able values."""
    return {
        "kind": "scatter",
        "title": scatter.title,
        "xLabel": scatter.x_label,
        "xUnit": scatter.x_unit,
        "yLabel": scatter.y_label,
        "yUnit": scatter.y_unit,
        "noteLabel": scatter.note_label,
        "xLinearBelow": scatter.x_linear_below,
        "xLimit": scatter.x_limit,
        "xLimitLabel": scatter.x_limit_label,
        "curves": [_curve(curve) for curve in scatter.curves],
        "texts": _texts(texts),
    }


def _curve(curve: Curve) -> dict[str, object]:
    order = np.lexsort((curve.y, curve.x))
    x, y = curve.x[order], curve.y[order]
    is_swept = order != (-1 if curve.chosen is None else curve.chosen)
    is_front = np.zeros(len(order), dtype=np.bool_)
    is_front[is_swept] = front(y[is_swept])
    return {
        "label": curve.label,
        "color": str(curve.color),
        "hidden": curve.is_hidden,
        "x": rounded(x),
        "y": rounded(y),
        "notes": [curve.notes[at] for at in order],
        "front": is_front.tolist(),
        "chosen": (~is_swept).tolist(),
    }


def front(y: FloatArray) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Tell for points in the order of x which of them no earlier one beats in y."""
    return y < np.minimum.accumulate(np.append(np.inf, y))[:-1]


def scatter_summary(scatter: Scatter, texts: Texts) -> list[Markup]:
    """Return each curve's extent, in a sentence."""
    return [
        element(
            "span",
            texts.scatter_summary.format(
                label=curve.label,
                points=len(curve.x),
                x_label=scatter.x_label,
                x_least=number(curve.x.min()),
                x_most=f"{number(curve.x.max())} {scatter.x_unit}",
                y_label=scatter.y_label,
                y_least=number(curve.y.min()),
                y_most=f"{number(curve.y.max())} {scatter.y_unit}",
            ),
        )
        for curve in scatter.curves
        if len(curve.x) and not curve.is_hidden
    ]


def _texts(texts: Texts) -> dict[str, str]:
    """Return the words that the script itself puts on the page."""
    return {
        "tag": texts.tag,
        "keys": texts.keys,
        "scatterKeys": texts.scatter_keys,
        "reset": texts.reset_zoom,
        "table": texts.table,
        "csv": texts.csv,
        "time": texts.time,
        "least": texts.least,
        "most": texts.most,
        "unknown": texts.unknown,
        "tableRows": texts.table_rows,
    }
