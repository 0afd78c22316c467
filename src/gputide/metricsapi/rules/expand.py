"""Names made of what a pattern found, as Go fills them in."""

import re

_REFERENCE = re.compile(r"\$(?:\$|\{(\w+)\}|(\w+))")


def expand(template: str, match: re.Match[str]) -> str:
    """Return `$1`, `${1}`, `${name}` and `$$` filled in; a group that is not there is empty.

    As in Go a name reaches as far as it can: `$1x` is the group `1x`.

    >>> expand("${1}_per_second $1x $$", re.compile("(.*)_total").match("http_total"))
    'http_per_second  $'
    """

    def group(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name is None:
            return "$"
        is_number = name.isdecimal() and (name == "0" or name[0] != "0")
        try:
            return match[int(name) if is_number else name] or ""
        except IndexError:
            return ""

    return _REFERENCE.sub(group, template)
