"""What holds for every test."""

from hypothesis import settings

# The same examples on every machine and in every run: a landing must not hang on a lucky draw.
settings.register_profile("gputide", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("gputide")
