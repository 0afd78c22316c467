"""Where load comes from: CSV files, Prometheus, an AHPA resource, our own generator."""
