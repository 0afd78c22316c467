"""The spectrum's lines at whole cycles a day, each held against the noise right beside it."""

from dataclasses import dataclass

import numpy as np

from gputide.forecast.bins import Bins
from gputide.forecast.model import FloatArray

MAX_CYCLES = 144
"""Lines looked at: with 5-minute bins nothing repeats faster."""

LOG_MEAN_PRICE = np.pi**2 / 6
"""A mean of logarithms knows the noise as well as a plain mean of this many times fewer values."""

MIN_LINE_EVIDENCE = 3.0
"""-ln(p) from which a single line counts as energy of a season rather than of noise."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Lines:
    """Lines at 1 ... K cycles a day, `[W, K]` each; column 0 is one cycle a day."""

    excess: FloatArray
    """Power above the noise, as a share of all power; 0 where the line may be noise alone."""

    evidence: FloatArray
    """-ln(p) against the noise beside the line: exponential with mean 1 where noise is all."""

    band: FloatArray
    """Noise around the line, up to midway to the next, in the unit of `excess`."""


def lines_of(bins: Bins) -> Lines:
    """Return the lines of bins that hold at least two days.

    A history of D whole days has D - 1 other frequencies from one line to the next; they hold what
    noise of any colour puts there. Their geometric mean is used: it ignores the week's sidebands.
    """
    days = bins.day_count
    spectrum = np.fft.rfft(bins.detrended(), axis=1)
    power = np.square(spectrum.real) + np.square(spectrum.imag)
    total = power[:, 1:].sum(axis=1, keepdims=True, dtype=float) + 1e-30
    half = days // 2
    line_count = min((power.shape[1] - 1 - half) // days, MAX_CYCLES)
    first = days - half
    bands = power[:, first : first + line_count * days].reshape(len(power), line_count, days)
    at_line = bands[:, :, half] / total
    logs = np.log(bands + np.float32(1e-30)) - np.log(total)[..., None]
    beside = (logs.sum(axis=2) - logs[:, :, half]) / (days - 1)
    width = round(6 / (days - 1))
    background = np.exp(_smooth(beside, width) + np.euler_gamma) + 1e-9
    at = np.arange(line_count)
    averaged = np.minimum(at + width + 1, line_count) - np.maximum(at - width, 0)
    freedom = (days - 1) * averaged / LOG_MEAN_PRICE
    evidence = freedom * np.log1p(at_line / background / freedom)
    excess = np.where(evidence < MIN_LINE_EVIDENCE, 0, np.maximum(at_line - background, 0))
    return Lines(excess=excess, evidence=evidence, band=background * days)


def joint_evidence(evidence: FloatArray) -> float:
    """Return the best -ln(p) over the first 1, 2, 4, ... of some lines, less the price of choosing.

    >>> joint_evidence(np.array([20.0]))
    20.0
    """
    sums = np.cumsum(evidence)
    counts = [2**n for n in range(int(np.log2(max(len(sums), 1))) + 1) if 2**n <= len(sums)]
    best = max((_gamma_tail(float(sums[count - 1]), count) for count in counts), default=0.0)
    return best - float(np.log(max(len(counts), 1)))


def _gamma_tail(total: float, count: int) -> float:
    """Return -ln P(sum of `count` exponentials > total), by Wilson and Hilferty's cube root."""
    if count == 1:
        return total
    spread = 1 / (9 * count)
    z = ((total / count) ** (1 / 3) - (1 - spread)) / spread**0.5
    if z < 0:
        return 0.0
    return float(z * z / 2 + np.log(z * 2.5066 + 2))  # the normal tail by Mills' ratio


def _smooth(beside: FloatArray, width: int) -> FloatArray:
    """Return log powers averaged over `width` lines on each side, along the spectrum's slope."""
    count = beside.shape[1]
    log_cycles = np.log(np.arange(1, count + 1))
    low = min(count, 8)
    lever = log_cycles[:low] - log_cycles[:low].mean()
    slope = np.clip(beside[:, :low] @ lever / max(np.square(lever).sum(), 1e-9), -3, 0)[:, None]
    flat = np.cumsum(np.pad(beside - slope * log_cycles, ((0, 0), (1, 0))), axis=1)
    at = np.arange(count)
    first, last = np.maximum(at - width, 0), np.minimum(at + width + 1, count)
    smooth = (flat[:, last] - flat[:, first]) / (last - first) + slope * log_cycles
    return np.asarray(smooth, float)
