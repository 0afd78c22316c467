"""A thin Kubernetes client, shared by whoever talks to an API server; it decides nothing."""
