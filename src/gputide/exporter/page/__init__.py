"""The parts of a page: labels, blocks of series, what they are computed from. All pure."""
