"""Recorded data that is no part of the project: beside the checkout, or not there."""

from pathlib import Path

SHARED = Path(__file__).parents[3] / "shared"
TRACES = SHARED / "data" / "traces"
SCRAPES = SHARED / "data" / "scrapes"
TUTORIALS = SHARED / "tutorials"
