"""The encrypted reverse tunnel: agents at the edge dial out, gateways serve nodes by name."""
