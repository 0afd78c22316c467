"""Days of demand by the minute, in memory, for thousands of workloads."""
