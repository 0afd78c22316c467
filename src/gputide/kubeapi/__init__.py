"""A small Kubernetes API server library: what kubectl, an HPA and an aggregator ask for.

Three uses of one code: the aggregated API of `metricsapi`, the control plane of the standalone
mode, and the server that tests drive with the real kubectl. A cluster stays Kubernetes' job.
"""
