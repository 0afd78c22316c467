"""`python -m gputide` is the `gputide` command."""

from gputide.cli import main

main()
