"""From candidates to quantiles: how far above each candidate the demand went, and which to trust."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float32]

FLOOR = 0.1
"""Residuals are relative to the candidate plus this part of the mean demand."""

JUDGED_RATIO = 0.4
"""A candidate must have been known for this part of the time to be trusted."""

SHARPNESS = 30.0
"""How strongly a lower loss is preferred."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Mixture:
    """The upper value of quantile q is `sum(share * (gain * candidate + offset))` over candidates."""

    gain: Array
    """`[Q, w, C]`."""

    offset: Array
    """`[Q, w, C]`."""

    share: Array
    """`[Q, w, C]`, summing to 1 over the candidates that could be judged."""

    loss: Array
    """`[Q, w, C]`: weighted pinball loss over the trailing days, infinite where never judged."""


def calibrate(
    candidates: Array, actual: Array, weight: Array, quantiles: Sequence[float]
) -> Mixture:
    """Return the mixture for `candidates[w, C, N]` against `actual[w, N]`, samples weighted by `weight[N]`."""
    base = candidates + np.float32(FLOOR)
    residual = (actual[:, None] - candidates) / base
    ordered = np.sort(residual, axis=-1)  # NaN goes last
    known = np.isfinite(residual)
    count = known.sum(axis=-1)
    weights = known * weight
    total = weights.sum(axis=-1)
    is_judged = total > JUDGED_RATIO * total.max(axis=-1, keepdims=True)
    gains, offsets, losses, shares = [], [], [], []
    for quantile in quantiles:
        rank = np.clip(np.ceil(quantile * (count + 1)) - 1, 0, np.maximum(count - 1, 0))
        shift = np.take_along_axis(ordered, rank.astype(np.intp)[..., None], axis=-1)
        miss = np.where(known, (residual - shift) * base, 0)
        loss = (np.maximum(quantile * miss, (quantile - 1) * miss) * weight).sum(axis=-1)
        with np.errstate(invalid="ignore", divide="ignore"):
            loss = np.where(is_judged, loss / total, np.inf)
        gains.append(1 + shift[..., 0])
        offsets.append(np.float32(FLOOR) * shift[..., 0])
        losses.append(loss)
        shares.append(_share(loss))
    return Mixture(
        gain=np.nan_to_num(np.stack(gains)).astype(np.float32),
        offset=np.nan_to_num(np.stack(offsets)).astype(np.float32),
        share=np.stack(shares).astype(np.float32),
        loss=np.stack(losses).astype(np.float32),
    )


def _share(loss: Array) -> Array:
    """Return shares `[w, C]` that fall with the loss; 0 where the loss is infinite."""
    least = np.where(np.isfinite(loss), loss, np.inf).min(axis=-1, keepdims=True)
    least = np.where(np.isfinite(least), least, 0)
    with np.errstate(invalid="ignore"):
        excess = np.where(np.isfinite(loss), (loss - least) / (least + 1e-6), 60 / SHARPNESS)
    share = np.exp(-SHARPNESS * np.minimum(excess, 60 / SHARPNESS))
    share = np.where(np.isfinite(loss), share, 0)
    total = share.sum(axis=-1, keepdims=True)
    return np.where(total > 0, share / np.maximum(total, 1e-30), 0).astype(np.float32)


def mix(mixture: Mixture, candidates: Array) -> Array:
    """Return the upper values `[Q, w, P]` of `candidates[w, C, P]`, among those known; NaN if none is."""
    known = np.isfinite(candidates)
    value = np.where(known, candidates, 0)
    share = mixture.share
    above = np.einsum("qwc,wcp->qwp", share * mixture.gain, value)
    above += np.einsum("qwc,wcp->qwp", share * mixture.offset, known.astype(np.float32))
    below = np.einsum("qwc,wcp->qwp", share, known.astype(np.float32))
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(below > 0, above / below, np.nan)
