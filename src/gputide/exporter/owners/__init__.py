"""Who holds which GPU: the kubelet, annotations of sharing schedulers, and processes' cgroups."""
