"""Prometheus' exposition formats: samples and families, rendered and parsed. Pure."""
