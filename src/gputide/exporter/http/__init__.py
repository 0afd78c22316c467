"""Serving the page over HTTP: negotiation, routes, authentication, TLS, and limits for clients."""
