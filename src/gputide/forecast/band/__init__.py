"""The day-ahead band: what people look at."""

from gputide.forecast.band.day import forecast_day

__all__ = ["forecast_day"]
