"""Forecasts of demand: arrays in, quantiles and a verdict out. Pure numpy, thousands of rows a call.

Two products: the lead forecast that decisions use (`fit_lead`, `replay_lead`), and the day-ahead
band that people look at (`forecast_day`).
"""

from gputide.forecast.band import forecast_day
from gputide.forecast.model import DayBand, History, Lead, Reason, Verdict, parse_quantile

__all__ = ["DayBand", "History", "Lead", "Reason", "Verdict", "forecast_day", "parse_quantile"]
