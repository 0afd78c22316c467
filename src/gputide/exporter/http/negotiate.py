"""What a client wants: the format by Accept, the compression by Accept-Encoding. Pure."""

from collections.abc import Iterator, Mapping
from enum import StrEnum

from gputide.exposition import Format


class Encoding(StrEnum):
    """A compression by its name in Content-Encoding."""

    ZSTD = "zstd"
    GZIP = "gzip"
    IDENTITY = "identity"


_TYPES = {
    Format.TEXT: ("text/plain", {"", "0.0.4"}),
    Format.OPENMETRICS: ("application/openmetrics-text", {"", "1.0.0", "0.0.1"}),
}
_MAX_RANGES = 64
"""Media ranges and codings looked at; Prometheus sends five."""


def choose_format(accept: str) -> Format:
    """Return the format that the client likes best; text where it likes both or neither.

    >>> choose_format("application/openmetrics-text;version=1.0.0;q=0.5,*/*;q=0.1").name
    'OPENMETRICS'
    >>> choose_format("text/html, */*;q=0.8").name
    'TEXT'
    """
    ranges = list(_ranges(accept))
    return max(Format, key=lambda each: (_format_quality(each, ranges), each is Format.TEXT))


def choose_encoding(accept_encoding: str) -> Encoding:
    """Return the compression that the client likes best, the smaller one where it likes several.

    >>> choose_encoding("gzip, zstd;q=0.5").value, choose_encoding("br").value
    ('gzip', 'identity')
    """
    qualities = {name: quality for name, _, quality in _ranges(accept_encoding)}
    rest = qualities.get("*", 0.0)
    best, best_quality = Encoding.IDENTITY, 0.0
    for each in (Encoding.ZSTD, Encoding.GZIP):
        quality = qualities.get(each.value, rest)
        if quality > best_quality:
            best, best_quality = each, quality
    prefers_plain = qualities.get(Encoding.IDENTITY.value, 0.0) > best_quality
    return Encoding.IDENTITY if prefers_plain else best


_Range = tuple[str, Mapping[str, str], float]


def _format_quality(target: Format, ranges: list[_Range]) -> float:
    """Return how much the client likes a format, by the most exact range that takes it in."""
    media_type, versions = _TYPES[target]
    family = media_type.partition("/")[0]
    for name in (media_type, f"{family}/*", "*/*"):
        found = [
            quality
            for given, parameters, quality in ranges
            if given == name and (name != media_type or parameters.get("version", "") in versions)
        ]
        if found:
            return max(found)
    return 0.0


def _ranges(header: str) -> Iterator[_Range]:
    """Yield name, parameters and quality of each part; a part that is nonsense counts as 0."""
    for part in header.split(",")[:_MAX_RANGES]:
        name, *rest = (piece.strip() for piece in part.split(";"))
        if not name:
            continue
        pairs = (piece.partition("=") for piece in rest)
        parameters = {key.strip().lower(): value.strip().strip('"') for key, _, value in pairs}
        yield name.lower(), parameters, _quality(parameters.pop("q", "1"))


def _quality(text: str) -> float:
    try:
        quality = float(text)
    except ValueError:
        return 0.0
    return quality if 0 <= quality <= 1 else 0.0
