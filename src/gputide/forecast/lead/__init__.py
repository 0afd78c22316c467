"""The lead forecast: a quantile of the maximum demand over the next steps, issued every minute.

Stable: the names below, and what `LeadForecaster` calls stable.
"""

from gputide.forecast.lead.candidates import CANDIDATE_NAMES
from gputide.forecast.lead.fit import fit_lead
from gputide.forecast.lead.forecaster import LeadForecaster
from gputide.forecast.lead.replay import replay_lead

__all__ = ["CANDIDATE_NAMES", "LeadForecaster", "fit_lead", "replay_lead"]
