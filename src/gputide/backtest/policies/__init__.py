"""The contestants of a backtest: their rules, their knobs, and the forecasts that they read."""
