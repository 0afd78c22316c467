"""The lead forecast: a quantile of the maximum demand over the next steps, issued every minute."""

from gputide.forecast.lead.fit import fit_lead
from gputide.forecast.lead.forecaster import LeadForecaster
from gputide.forecast.lead.replay import replay_lead

__all__ = ["LeadForecaster", "fit_lead", "replay_lead"]
