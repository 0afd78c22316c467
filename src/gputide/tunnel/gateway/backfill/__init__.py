"""Pages of offline times, turned into samples and written to Prometheus with their true times."""
