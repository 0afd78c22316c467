"""See every GPU of a fleet in one Prometheus, and scale its workloads ahead of their load."""

__version__ = "0.1.0"
