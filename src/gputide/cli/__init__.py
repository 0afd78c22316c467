"""The command line: one module a command, imported when it is asked for."""


def main() -> None:
    """Run the command that the arguments name."""
