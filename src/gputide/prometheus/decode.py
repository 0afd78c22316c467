"""JSON of Prometheus' HTTP API -> values, straight into numpy."""

import re
from dataclasses import dataclass
from typing import TypeVar

import msgspec
import numpy as np

from gputide.prometheus.model import FloatArray, InstantResult, Labels

Kind = TypeVar("Kind")


class AnswerError(Exception):
    """The body is not what this question's answer looks like; the text says how."""


class ServerError(Exception):
    """The server says in its own words that it failed: `kind` is its errorType."""

    def __init__(self, kind: str, text: str) -> None:
        super().__init__(f"{kind}: {text}" if kind else text)
        self.kind = kind
        self.text = text


class _Envelope(msgspec.Struct, frozen=True, rename="camel"):
    """What is around every answer; data is left as it stands."""

    status: str
    data: msgspec.Raw = msgspec.Raw()
    error_type: str = ""
    error: str = ""
    warnings: tuple[str, ...] | None = None
    infos: tuple[str, ...] | None = None


class _Typed(msgspec.Struct, frozen=True, rename="camel"):
    """`data` of both query APIs."""

    result_type: str
    result: msgspec.Raw


class _Row(msgspec.Struct, frozen=True, gc=False):
    """One series of a matrix."""

    metric: dict[str, str]
    values: msgspec.Raw = msgspec.Raw()
    histograms: msgspec.Raw = msgspec.Raw()


class _Sample(msgspec.Struct, frozen=True, gc=False):
    """One series of a vector."""

    metric: dict[str, str]
    value: tuple[float, float] | None = None
    histogram: msgspec.Raw = msgspec.Raw()


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """A successful answer: the JSON of `data`, and the server's warnings (infos among them)."""

    data: msgspec.Raw
    warnings: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class MatrixRow:
    """One series as answered: `at_seconds[N]` and `values[N]`, only the samples that exist."""

    labels: Labels
    at_seconds: FloatArray
    values: FloatArray


_envelope = msgspec.json.Decoder(_Envelope)
_typed = msgspec.json.Decoder(_Typed)
_rows = msgspec.json.Decoder(list[_Row])
_samples = msgspec.json.Decoder(list[_Sample], strict=False)  # not strict: numbers come as text
_scalar = msgspec.json.Decoder(tuple[float, float], strict=False)
_numbers = msgspec.json.Decoder(list[float], strict=False)

_TITLE = re.compile(rb"<title[^>]*>\s*(.{1,80}?)\s*</title", re.IGNORECASE | re.DOTALL)
_HISTOGRAM = (
    "holds native histograms, which are no numbers: "
    "write histogram_quantile(...), histogram_sum(...) or histogram_count(...) around them"
)


def decode_answer(body: bytes) -> Answer:
    """Return what a body says; raise ServerError with its words, AnswerError if it has none."""
    try:
        envelope = _envelope.decode(body)
    except msgspec.MsgspecError as error:  # malformed, cut off, or JSON of something else
        raise AnswerError(_describe(body, error)) from error
    if envelope.status != "success":
        raise ServerError(envelope.error_type, envelope.error or f"status {envelope.status!r}")
    warnings = (envelope.warnings or ()) + (envelope.infos or ())
    return Answer(data=envelope.data, warnings=warnings)


def decode_instant(answer: Answer, expression: str) -> InstantResult:
    """Return the samples of an instant query; a scalar is one sample without labels."""
    typed = _take(_typed, answer.data)
    body = _plain_infinities(bytes(typed.result))
    if typed.result_type == "scalar":
        samples = [_Sample(metric={}, value=_take(_scalar, body))]
    elif typed.result_type == "vector":
        samples = _take(_samples, body)
    else:
        raise AnswerError(f"the query gives a {typed.result_type}, not one value for each series")
    if any(one.histogram for one in samples):
        raise AnswerError(_HISTOGRAM)
    pairs = [one.value for one in samples if one.value is not None]
    if len(pairs) != len(samples):
        raise AnswerError("a series of the answer has no value")
    points = np.array(pairs, dtype=np.float64).reshape(-1, 2)
    return InstantResult(
        expression=expression,
        labels=tuple(one.metric for one in samples),
        values=points[:, 1].copy(),
        at_seconds=points[:, 0].copy(),
        warnings=answer.warnings,
    )


def decode_matrix(answer: Answer) -> list[MatrixRow]:
    """Return the series of a range query as they were answered."""
    typed = _take(_typed, answer.data)
    if typed.result_type != "matrix":
        raise AnswerError(f"a range query answered with a {typed.result_type}, not a matrix")
    rows = _take(_rows, typed.result)
    if any(row.histograms for row in rows):
        raise AnswerError(_HISTOGRAM)
    return [_decode_row(row) for row in rows]


def decode_data(answer: Answer, kind: type[Kind]) -> Kind:
    """Return `data` as the given type (label names, metadata, build information)."""
    return _take(msgspec.json.Decoder(kind), answer.data)


def _decode_row(row: _Row) -> MatrixRow:
    """Read `[[at, "value"], ...]` as one flat list of numbers: twice as fast as pair by pair."""
    body = bytes(row.values)
    flat = body.translate(None, b"[]")
    if b'"+Inf"' in flat:
        flat = flat.replace(b'"+Inf"', b'"Inf"')  # the decoder knows Inf and NaN, but no plus
    numbers = _take(_numbers, b"[%b]" % flat)
    if len(numbers) % 2 or body.count(b"[") != len(numbers) // 2 + 1:
        raise AnswerError("samples are no pairs of time and value")
    points = np.array(numbers, dtype=np.float64)
    return MatrixRow(labels=row.metric, at_seconds=points[0::2], values=points[1::2])


def _plain_infinities(body: bytes) -> bytes:
    """Drop the plus of infinite values (never of labels: there a quote would be escaped)."""
    if b'"+Inf"' not in body:
        return body
    return re.sub(rb',\s*"\+Inf"\s*\]', b',"Inf"]', body)


def _take(decoder: msgspec.json.Decoder[Kind], body: bytes | msgspec.Raw) -> Kind:
    try:
        return decoder.decode(body)
    except msgspec.MsgspecError as error:
        raise AnswerError(f"unexpected JSON: {error}") from error


def _describe(body: bytes, error: msgspec.MsgspecError) -> str:
    """Say what a body is that is no answer of Prometheus."""
    start = body[:512].lstrip().lower()
    if start.startswith((b"<!doctype", b"<html", b"<?xml", b"<head", b"<body")):
        title = _TITLE.search(body[:8192])
        named = f" ({title[1].decode(errors='replace')!r})" if title else ""
        return f"a web page{named} instead of JSON: is this the address of Prometheus' HTTP API?"
    if not body.strip():
        return "an empty body instead of JSON"
    if "truncated" in str(error):
        return f"JSON that is cut off after {len(body)} bytes"
    return f"no answer of Prometheus' HTTP API ({error})"
