"""Bytes to families: text format 0.0.4 and OpenMetrics 1.0, exemplars left out."""

import re
from dataclasses import dataclass, field

from gputide.exposition.model import (
    METRIC_NAME,
    ExpositionError,
    Family,
    Kind,
    Labels,
    Sample,
)
from gputide.exposition.text import Format

_LABEL = re.compile(r'\s*([a-zA-Z_][a-zA-Z0-9_]*)\s*=\s*"((?:[^"\\\n]|\\.)*)"\s*(,|(?=\}))')
_CLOSE = re.compile(r"\s*\}")
_ESCAPE = re.compile(r"\\(.)")
_ESCAPED = {"n": "\n", "\\": "\\", '"': '"'}
_SUFFIXES = {
    Kind.COUNTER: ("_total", "_created", ""),
    Kind.HISTOGRAM: ("_bucket", "_count", "_sum", "_created"),
    Kind.GAUGE_HISTOGRAM: ("_bucket", "_gcount", "_gsum"),
    Kind.SUMMARY: ("", "_count", "_sum", "_created"),
    Kind.INFO: ("_info",),
}
_KINDS = {kind.value: kind for kind in Kind} | {"untyped": Kind.UNKNOWN}


@dataclass(slots=True)
class _Open:
    name: str
    kind: Kind = Kind.UNKNOWN
    help: str = ""
    samples: list[Sample] = field(default_factory=list)

    def takes(self, name: str) -> bool:
        suffixes = _SUFFIXES.get(self.kind, ("",))
        return any(name == self.name + suffix for suffix in suffixes)

    def close(self) -> Family:
        return Family(self.name, self.kind, self.help, tuple(self.samples))


def parse(page: bytes, source: Format = Format.TEXT) -> tuple[Family, ...]:
    """Return the families of a page in their order; raise ExpositionError naming the line."""
    try:
        text = page.decode()
    except UnicodeDecodeError as error:
        bad_line = page.count(b"\n", 0, error.start) + 1
        raise ExpositionError(bad_line, "is not UTF-8") from error
    reader = _Reader(source)
    lines = text.split("\n")
    for number, line in enumerate(lines, start=1):
        reader.take(line, number)
    return reader.finish(len(lines))


class _Reader:
    """Takes a page line by line."""

    def __init__(self, source: Format) -> None:
        self._source = source
        self._families: list[_Open] = []
        self._is_ended = False

    def take(self, line: str, number: int) -> None:
        if not line.strip():
            return
        if self._is_ended:
            raise ExpositionError(number, "text after # EOF")
        if self._source is Format.OPENMETRICS and line == "# EOF":
            self._is_ended = True
        elif line.startswith("#"):
            if comment := _Comment.read(line, number):
                comment.apply(self._named(comment.name), number)
        else:
            sample = _sample(line, number, self._source)
            self._taking(sample.name).samples.append(sample)

    def finish(self, line_count: int) -> tuple[Family, ...]:
        if self._source is Format.OPENMETRICS and not self._is_ended:
            raise ExpositionError(line_count, "the page ends without # EOF: it was cut off")
        return tuple(family.close() for family in self._families)

    def _named(self, name: str) -> _Open:
        if not self._families or self._families[-1].name != name:
            self._families.append(_Open(name))
        return self._families[-1]

    def _taking(self, sample_name: str) -> _Open:
        if not self._families or not self._families[-1].takes(sample_name):
            self._families.append(_Open(sample_name))
        return self._families[-1]


@dataclass(frozen=True, slots=True)
class _Comment:
    keyword: str
    name: str
    text: str

    @classmethod
    def read(cls, line: str, number: int) -> "_Comment | None":
        """Return a HELP, TYPE or UNIT line's parts; None for any other comment."""
        parts = line.split(None, 3)
        if len(parts) < 3 or parts[0] != "#" or parts[1] not in {"HELP", "TYPE", "UNIT"}:
            return None
        if not METRIC_NAME.fullmatch(parts[2]):
            raise ExpositionError(number, f"{parts[2]!r} is no metric name")
        return cls(parts[1], parts[2], parts[3] if len(parts) > 3 else "")

    def apply(self, family: _Open, number: int) -> None:
        if self.keyword == "HELP":
            family.help = _unescape(self.text)
        elif self.keyword == "TYPE":
            kind = _KINDS.get(self.text.strip())
            if kind is None:
                raise ExpositionError(number, f"{self.text!r} is no metric type")
            family.kind = kind


def _sample(line: str, number: int, source: Format) -> Sample:
    match = METRIC_NAME.match(line)
    if match is None:
        raise ExpositionError(number, "starts with no metric name")
    labels: Labels = ()
    end = match.end()
    if line[end : end + 1] == "{":
        labels, end = _labels(line, end + 1, number)
    fields = line[end:].split("#", 1)[0].split()  # what follows is an exemplar
    if len(fields) not in {1, 2}:
        raise ExpositionError(number, f"has {len(fields)} fields after the labels, not 1 or 2")
    value = _number(fields[0], number)
    if len(fields) == 1:
        return Sample(match.group(), labels, value)
    scale = 1 if source is Format.OPENMETRICS else 1000
    return Sample(match.group(), labels, value, _number(fields[1], number) / scale)


def _labels(line: str, start: int, number: int) -> tuple[Labels, int]:
    found: dict[str, str] = {}
    position = start
    while not (end := _CLOSE.match(line, position)):
        match = _LABEL.match(line, position)
        if match is None:
            raise ExpositionError(number, f"no label at column {position + 1}")
        name, value = match.group(1), match.group(2)
        if name in found:
            raise ExpositionError(number, f"label {name} twice")
        found[name] = _unescape(value)
        position = match.end()
    return tuple(found.items()), end.end()


def _unescape(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda match: _ESCAPED.get(match.group(1), match.group(0)), text)


def _number(text: str, number: int) -> float:
    if "_" not in text:  # Python's float takes 1_000, the formats do not
        try:
            return float(text)
        except ValueError:
            pass
    raise ExpositionError(number, f"{text!r} is no number")
