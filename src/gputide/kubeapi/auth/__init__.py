"""Who asks, and whether he may: authenticators and authorizers of a real cluster."""
