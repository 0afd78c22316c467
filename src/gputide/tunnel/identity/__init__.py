"""Who is who in the tunnel: authority, certificates, join tokens, revocation."""
