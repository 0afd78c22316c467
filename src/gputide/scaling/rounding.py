"""Whole replicas from floating-point needs."""

import numpy as np
from numpy.typing import NDArray

ROUNDING_RATIO = 1e-9
"""Differences below this share are noise of floating point: 0.3 / 0.1 must be 3, 1.1 / 0.1 11."""


def ceil_replicas(need: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the replicas that serve a need, of any shape; NaN stays NaN.

    >>> ceil_replicas(np.array([189 / 20, 0.3 / 0.1, 1.1 / 0.1, 0.0]))
    array([10.,  3., 11.,  0.])
    """
    rounded: NDArray[np.float64] = np.ceil(need * (1 - ROUNDING_RATIO))
    return rounded


def floor_replicas(kept: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the whole replicas that a share leaves, of any shape: 10 x (1 - 0.9) is 1."""
    rounded: NDArray[np.float64] = np.floor(kept * (1 + ROUNDING_RATIO))
    return rounded
