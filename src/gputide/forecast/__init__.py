"""Forecasts of demand: arrays in, quantiles and a verdict out; thousands of rows a call.

Two products: the lead forecast that decisions use (`forecast.lead`), and the day-ahead band that
people look at (`forecast_day`). Numpy alone, no I/O.
"""

from gputide.forecast.band import forecast_day
from gputide.forecast.model import DayBand, History, Lead, Reason, Verdict, parse_quantile

__all__ = ["DayBand", "History", "Lead", "Reason", "Verdict", "forecast_day", "parse_quantile"]
