"""Prometheus as a source of history: a thin client over its HTTP API."""
