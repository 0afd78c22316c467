import json
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from gputide.prometheus.decode import (
    AnswerError,
    ServerError,
    decode_answer,
    decode_data,
    decode_instant,
    decode_matrix,
)

FLOATS = st.floats(allow_nan=True, allow_infinity=True)


def as_prometheus_writes(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    if math.isinf(value):
        return "+Inf" if value > 0 else "-Inf"
    return repr(value)


def body(kind: str, result: object, **extra: object) -> bytes:
    data = {"resultType": kind, "result": result}
    return json.dumps({"status": "success", "data": data, **extra}).encode()


@settings(deadline=None, max_examples=50)
@given(
    samples=st.lists(st.tuples(st.integers(0, 2**32), FLOATS), max_size=20),
    separator=st.sampled_from([",", ", "]),
)
def test_each_sample_of_a_matrix_comes_out_as_it_went_in(
    samples: list[tuple[int, float]], separator: str
) -> None:
    values = [[at, as_prometheus_writes(value)] for at, value in samples]
    document = json.loads(body("matrix", [{"metric": {"le": "+Inf"}, "values": values}]))
    written = json.dumps(document, separators=(separator, ":")).encode()
    (row,) = decode_matrix(decode_answer(written))

    assert row.labels == {"le": "+Inf"}
    np.testing.assert_array_equal(row.at_seconds, [at for at, _ in samples])
    np.testing.assert_array_equal(row.values, [value for _, value in samples])


@settings(deadline=None, max_examples=50)
@given(value=FLOATS, label=st.text(max_size=20))
def test_each_value_of_a_vector_comes_out_as_it_went_in(value: float, label: str) -> None:
    metric = {"le": "+Inf", "x": label, "y": ',"+Inf"]'}
    row = {"metric": metric, "value": [12.5, as_prometheus_writes(value)]}
    found = decode_instant(decode_answer(body("vector", [row])), "load")

    assert found.labels == (metric,)
    np.testing.assert_array_equal(found.values, [value])
    assert found.at_seconds.tolist() == [12.5]


def test_a_scalar_is_one_sample_without_labels() -> None:
    found = decode_instant(decode_answer(body("scalar", [5, "+Inf"])), "1/0")

    assert found.labels == ({},)
    assert found.values.tolist() == [math.inf]


def test_an_empty_vector_has_no_samples() -> None:
    found = decode_instant(decode_answer(body("vector", [])), "nothing")

    assert found.values.shape == (0,)


def test_warnings_and_infos_of_the_server_are_carried() -> None:
    document = body("vector", [], warnings=["a store is away"], infos=["is a gauge"])
    found = decode_instant(decode_answer(document), "load")

    assert found.warnings == ("a store is away", "is a gauge")


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (b"<!DOCTYPE html><title>Sign in</title>", "a web page ('Sign in') instead of JSON"),
        (b"\n <html><body>", "a web page instead of JSON"),
        (b"", "an empty body"),
        (b'{"status":"success","data":{"resultType":"mat', "cut off after 45 bytes"),
        (b"[]", "no answer of Prometheus' HTTP API"),
        (b'{"kind":"Status"}', "no answer of Prometheus' HTTP API"),
        (b"\xff\xfe", "no answer of Prometheus' HTTP API"),
        (b"ok", "no answer of Prometheus' HTTP API"),
    ],
)
def test_a_body_that_is_no_answer_is_described(document: bytes, words: str) -> None:
    with pytest.raises(AnswerError) as caught:
        decode_answer(document)

    assert words in str(caught.value)


def test_the_servers_own_error_is_told_apart() -> None:
    with pytest.raises(ServerError, match="execution: too late") as caught:
        decode_answer(b'{"status":"error","errorType":"execution","error":"too late"}')

    assert caught.value.kind == "execution"


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (body("vector", []), "answered with a vector, not a matrix"),
        (body("string", [1, "x"]), "answered with a string, not a matrix"),
        (body("matrix", [{"metric": {}, "histograms": [[1, {}]]}]), "native histograms"),
        (body("matrix", [{"metric": {}, "values": [[1, "2", 3]]}]), "no pairs"),
        (body("matrix", [{"metric": {}, "values": [[1, "2"], 3, 4]}]), "no pairs"),
        (body("matrix", [{"metric": {}, "values": [[1, "two"]]}]), "unexpected JSON"),
        (body("matrix", [{"metric": {}, "values": [[1, None]]}]), "unexpected JSON"),
        (body("matrix", [{"metric": {"a": 1}, "values": []}]), "unexpected JSON"),
        (body("matrix", [1]), "unexpected JSON"),
        (b'{"status":"success"}', "unexpected JSON"),
        (b'{"status":"success","data":[]}', "unexpected JSON"),
    ],
)
def test_a_matrix_that_is_none_is_an_error_and_no_zero(document: bytes, words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        decode_matrix(decode_answer(document))


@pytest.mark.parametrize(
    ("document", "words"),
    [
        (body("matrix", []), "gives a matrix"),
        (body("string", [1, "x"]), "gives a string"),
        (body("vector", [{"metric": {}, "histogram": [1, {}]}]), "native histograms"),
        (body("vector", [{"metric": {}}]), "has no value"),
        (body("vector", [{"metric": {}, "value": [1, "x"]}]), "unexpected JSON"),
    ],
)
def test_a_vector_that_is_none_is_an_error_and_no_zero(document: bytes, words: str) -> None:
    with pytest.raises(AnswerError, match=words):
        decode_instant(decode_answer(document), "load")


def test_other_data_is_checked_against_its_type() -> None:
    answer = decode_answer(b'{"status":"success","data":["a","b"]}')

    assert decode_data(answer, list[str]) == ["a", "b"]
    with pytest.raises(AnswerError):
        decode_data(answer, dict[str, str])
