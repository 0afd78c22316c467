"""The cloud end: agents knock at its door, Prometheus comes in by its entrances."""
