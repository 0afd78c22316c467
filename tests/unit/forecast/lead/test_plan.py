"""Windows follow the step, from seconds to columns."""

import pytest

from gputide.errors import SettingError
from gputide.forecast import Lead
from gputide.forecast.lead.plan import Plan


@pytest.mark.parametrize("step_seconds", [15, 60, 300, 1800, 3600])
def test_every_step_between_15_seconds_and_an_hour_has_a_plan(step_seconds: int) -> None:
    plan = Plan(step_seconds=step_seconds, lead=Lead(first_step=1, last_step=2))

    assert plan.level_steps >= 1
    assert min(plan.persistence_steps) >= 1
    assert sum(plan.recent_weights) == pytest.approx(1)
    assert plan.needed_steps * step_seconds <= 86_400 / 2
    assert len(plan.origins) == 7


def test_recent_origins_have_seen_their_whole_lead() -> None:
    plan = Plan(step_seconds=60, lead=Lead(first_step=60, last_step=60))

    assert min(plan.recent_origins) == 60


def test_hours_compared_lie_wholly_in_the_past() -> None:
    plan = Plan(step_seconds=60, lead=Lead(first_step=1, last_step=90))

    assert plan.hour_lags == (120, 180, 240, 300)


def test_a_lead_beyond_a_day_is_refused() -> None:
    with pytest.raises(SettingError, match="within a day, 24 steps"):
        Plan(step_seconds=3600, lead=Lead(first_step=1, last_step=25))
