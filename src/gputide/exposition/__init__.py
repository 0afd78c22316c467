"""Prometheus' exposition formats: samples and families, rendered and parsed. Pure."""

from gputide.exposition.model import ExpositionError, Family, Kind, Labels, Sample
from gputide.exposition.parse import parse
from gputide.exposition.text import Format, render

__all__ = ["ExpositionError", "Family", "Format", "Kind", "Labels", "Sample", "parse", "render"]
