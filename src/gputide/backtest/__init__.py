"""What each scaling policy would have cost, and where it would have hurt."""
