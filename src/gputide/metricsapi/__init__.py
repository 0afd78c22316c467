"""Kubernetes' metrics APIs served from Prometheus, and forecasts beside them."""
