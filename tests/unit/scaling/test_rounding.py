import numpy as np
import pytest

from gputide.scaling.rounding import ceil_replicas, floor_replicas


@pytest.mark.parametrize(
    ("need", "replicas"),
    [
        (189 / 20, 10),
        (0.3 / 0.1, 3),
        (1.1 / 0.1, 11),
        (0.7 / 0.1, 7),
        (3.001, 4),
        (0.0, 0),
        (1e-12, 1),
        (100 * 1.1, 110),
    ],
)
def test_noise_of_floating_point_starts_no_pod(need: float, replicas: float) -> None:
    assert ceil_replicas(np.array([need])).tolist() == [replicas]


def test_unknown_stays_unknown() -> None:
    assert np.isnan(ceil_replicas(np.array([np.nan]))).all()


@pytest.mark.parametrize(("kept", "replicas"), [(10 * (1 - 0.9), 1), (2.99, 2), (0.0, 0)])
def test_what_a_share_leaves_is_rounded_down(kept: float, replicas: float) -> None:
    assert floor_replicas(np.array([kept])).tolist() == [replicas]
