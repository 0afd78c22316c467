"""prometheus-adapter's rules: grammar, names, templates, selectors. Pure."""
