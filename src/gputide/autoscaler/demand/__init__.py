"""The demand of many workloads, now and over the past, by a few grouped queries."""
