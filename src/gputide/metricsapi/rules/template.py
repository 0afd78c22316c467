"""Go templates between << and >>, as far as rules need them: fields and `index`."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from gputide.errors import InputError

_ACTION = re.compile(r"<<-?\s*(.*?)\s*-?>>", re.DOTALL)
_FIELD = re.compile(r"\.(\w+)(?:\.(\w+))?")
_INDEX = re.compile(r"index\s+\.(\w+)\s+(?:\"([^\"]*)\"|(\d+))")

Values = Mapping[str, str | Sequence[str] | Mapping[str, str]]


@dataclass(frozen=True, slots=True)
class Template:
    """Text with fields in it, checked once."""

    text: str
    fields: frozenset[str]

    def render(self, values: Values) -> str:
        """Return the text with the fields' values; a name that a map lacks gives ""."""
        return _ACTION.sub(lambda match: _value(match[1], values), self.text)


def parse_template(text: str, *, known: Sequence[str], place: str) -> Template:
    """Return the template; raise InputError for what is no known field.

    >>> template = parse_template("<<.A>>{<<index .B 0>>}", known=["A", "B"], place="here")
    >>> template.render({"A": "up", "B": ["x"]})
    'up{x}'
    """
    found = set()
    for match in _ACTION.finditer(text):
        parsed = _FIELD.fullmatch(match[1]) or _INDEX.fullmatch(match[1])
        if parsed is None:
            problem = f"<<{match[1]}>> is beyond what is understood: fields and index, no pipes"
            raise InputError(place, problem)
        if parsed[1] not in known:
            listed = ", ".join(f".{one}" for one in known)
            raise InputError(place, f".{parsed[1]} is no field here; there are {listed}")
        found.add(parsed[1])
    if "<<" in _ACTION.sub("", text):
        raise InputError(place, "<< has no >>")
    return Template(text, frozenset(found))


def _value(action: str, values: Values) -> str:
    match = _FIELD.fullmatch(action) or _INDEX.fullmatch(action)
    assert match is not None  # noqa: S101 parsing has checked it
    value = values.get(match[1], "")
    key = next((one for one in match.groups()[1:] if one is not None), None)
    if key is None:
        return value if isinstance(value, str) else _listed(value)
    if isinstance(value, Mapping):
        return value.get(key, "")
    return value[int(key)] if key.isdigit() and int(key) < len(value) else ""


def _listed(value: Sequence[str] | Mapping[str, str]) -> str:
    """Return a list or map as Go prints it."""
    if isinstance(value, Mapping):
        return f"map[{' '.join(f'{key}:{one}' for key, one in value.items())}]"
    return f"[{' '.join(value)}]"
