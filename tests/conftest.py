"""What holds for every test."""

import pytest
from hypothesis import settings

from fakes.shared import SHARED

# The same examples on every machine and in every run: a landing must not hang on a lucky draw.
settings.register_profile("gputide", derandomize=True, deadline=None, print_blob=True)
settings.load_profile("gputide")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Skip what needs recorded data where none lies beside the checkout."""
    if not SHARED.is_dir():
        skipped = pytest.mark.skip(reason="no recorded data beside the checkout")
        for item in items:
            if item.get_closest_marker("shared") is not None:
                item.add_marker(skipped)
