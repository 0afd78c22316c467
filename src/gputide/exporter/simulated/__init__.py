"""GPUs that are not there: believable readings from a profile, a load and faults."""
