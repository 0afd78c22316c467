"""How many replicas to run, and why. Pure: no clock, no I/O."""
