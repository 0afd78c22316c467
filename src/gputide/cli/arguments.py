"""What a shell hands over, in the form that the parser takes."""

from collections.abc import Sequence

STDIN = "/dev/stdin"
STDOUT = "/dev/stdout"
WRITING_OPTIONS = frozenset({"--json", "--html", "--output", "-o"})


def spell_out_dashes(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with a lone `-` as the path that it stands for.

    The parser takes it for an option's beginning.

    >>> spell_out_dashes(["forecast", "--csv", "a.csv", "-", "--json", "-"])
    ['forecast', '--csv', 'a.csv', '/dev/stdin', '--json', '/dev/stdout']
    """
    options = ["", *arguments]
    return [
        (STDOUT if before in WRITING_OPTIONS else STDIN) if argument == "-" else argument
        for before, argument in zip(options, arguments, strict=False)
    ]
