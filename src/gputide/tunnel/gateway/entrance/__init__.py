"""Where Prometheus and others of the cloud come in: by node name, by proxy, by SNI."""
