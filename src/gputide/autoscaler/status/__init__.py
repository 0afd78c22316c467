"""What the resource shows: status, conditions, events; written only where something changed."""
