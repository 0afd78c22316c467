"""Numbers as people and Kubernetes write them, rounded so that noise is no change."""

from math import floor, log10

from gputide.scaling import MetricTarget, TargetKind

DIGITS = 3


def rounded(value: float) -> float:
    """Return a number with three digits.

    >>> rounded(189.4321)
    189.0
    """
    if value == 0:
        return 0.0
    places = DIGITS - 1 - floor(log10(abs(value)))
    return round(value, places)


def amount_text(value: float | None, metric: MetricTarget) -> str:
    """Return a demand or target: whole percent for Utilization, else a quantity; "" unknown.

    >>> from gputide.scaling import MetricKind
    >>> gpu = MetricTarget(kind=MetricKind.RESOURCE, name="gpu", labels={},
    ...     target_kind=TargetKind.UTILIZATION, target=0.2)
    >>> amount_text(1.89, gpu)
    '189'
    """
    if value is None:
        return ""
    if metric.target_kind is TargetKind.UTILIZATION:
        return f"{round(value * 100):d}"
    return quantity_text(rounded(value))


def quantity_text(value: float) -> str:
    """Return a Kubernetes quantity, whole or in thousandths.

    >>> quantity_text(1.5), quantity_text(20.0), quantity_text(0.0004)
    ('1500m', '20', '1m')
    """
    if value == int(value):
        return str(int(value))
    thousandths = -int(-value * 1000 // 1)  # up, as Kubernetes rounds
    return str(thousandths // 1000) if thousandths % 1000 == 0 else f"{thousandths}m"
