"""What the server does with a request to a resource, verb by verb."""
