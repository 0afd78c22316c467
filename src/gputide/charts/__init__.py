"""Self-contained HTML pages with charts: values in, one file of text out."""
