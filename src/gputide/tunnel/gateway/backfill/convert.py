"""Pages to series: each line's text once as labels, its values under the pages' times. Pure."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import isnan

from gputide.exposition import ExpositionError, parse

Labels = tuple[tuple[str, str], ...]
NAME = "__name__"


@dataclass(frozen=True, slots=True, kw_only=True)
class SeriesSamples:
    """One series: labels sorted by name, samples (Unix ms, value) in order of time."""

    labels: Labels
    samples: tuple[tuple[int, float], ...]


def convert(
    pages: Iterable[tuple[int, bytes]], targets: Sequence[Mapping[str, str]], *, honor_labels: bool
) -> list[SeriesSamples]:
    """Return the series of pages (Unix ms, text format 0.0.4), once for each target's labels.

    `targets` are what Prometheus adds: job, instance and whatever relabelling made. Where a page
    has a label of the same name, it is kept as exported_NAME, or wins where labels are honoured.
    Lines that cannot be read, and samples that are NaN, are left out: unknown is no value.
    """
    by_text: dict[str, list[tuple[int, float]]] = {}
    for at_ms, page in pages:
        for line in page.decode("utf-8", "replace").splitlines():
            found = _split(line)
            if found is None:
                continue
            text, value, own_ms = found
            if not isnan(value):
                by_text.setdefault(text, []).append((at_ms if own_ms is None else own_ms, value))
    made = []
    for text, samples in by_text.items():
        labels = _labels_of(text)
        if labels is None:
            continue
        ordered = _in_order(samples)
        made += [
            SeriesSamples(labels=_join(labels, target, honor_labels=honor_labels), samples=ordered)
            for target in targets
        ]
    return made


def _split(line: str) -> tuple[str, float, int | None] | None:
    """Return a sample line's name and labels, value, and own time in ms where it has one."""
    if not line or line[0] == "#":
        return None
    end = line.rfind("}") + 1
    if not end:
        end = line.find(" ")
    rest = line[end:].split()
    if end <= 0 or not 1 <= len(rest) <= 2:
        return None
    try:
        return line[:end], float(rest[0]), int(rest[1]) if len(rest) == 2 else None
    except ValueError:
        return None


def _labels_of(text: str) -> dict[str, str] | None:
    try:
        [family] = parse(f"{text} 0\n".encode())
        [sample] = family.samples
    except (ExpositionError, ValueError):
        return None
    return {NAME: sample.name, **dict(sample.labels)}


def _join(own: Mapping[str, str], target: Mapping[str, str], *, honor_labels: bool) -> Labels:
    labels = dict(own)
    for name, value in target.items():
        if name in own and honor_labels:
            continue
        if name in own:
            labels[f"exported_{name}"] = own[name]
        labels[name] = value
    return tuple(sorted((name, value) for name, value in labels.items() if value))


def _in_order(samples: list[tuple[int, float]]) -> tuple[tuple[int, float], ...]:
    """Return samples by time, the last one of each moment."""
    return tuple(sorted(dict(samples).items()))
