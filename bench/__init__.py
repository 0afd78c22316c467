"""How good, how cheap and how useful the forecasts are, beside opponents on the same origins."""
