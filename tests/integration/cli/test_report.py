import asyncio
import json
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path

import pytest

from fakes.http_server import Request, http_server, response
from fakes.kubeconfigs import token_kubeconfig
from fakes.plane_server import plane_server
from gputide.cli import run

PAGE = "<!doctype html><title>Прогноз</title>".encode()
PATH = "/apis/metrics.alibabacloud.com/v1beta1/namespaces"
PREDICTION = {"content": b64encode(PAGE).decode(), "contentType": "html"}
Respond = Callable[[Request], bytes]


async def report(folder: Path, url: str, *arguments: str) -> int:
    """Run the command in a thread of its own, beside the server."""
    path = token_kubeconfig(folder, url, b"", token="t", name="reader")
    content = json.loads(path.read_text())
    del content["clusters"][0]["cluster"]["certificate-authority-data"]
    path.write_text(json.dumps(content))
    return await asyncio.to_thread(run, ["report", *arguments, "--kubeconfig", str(path)])


def answering(body: object, status: str = "200 OK") -> Respond:
    return lambda _request: response(json.dumps(body).encode(), status)


async def test_the_page_goes_to_standard_output_as_it_is(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    async with http_server(answering(PREDICTION)) as server:
        assert await report(tmp_path, server.url, "fib-gpu") == 0

    assert capsysbinary.readouterr().out == PAGE
    assert server.requests[0].target == f"{PATH}/default/predictionsobserver/fib-gpu"


async def test_the_page_goes_to_a_file(tmp_path: Path) -> None:
    path = tmp_path / "observer.html"
    async with http_server(answering(PREDICTION)) as server:
        assert await report(tmp_path, server.url, "fib-gpu", "-n", "team", "-o", str(path)) == 0

    assert path.read_bytes() == PAGE
    assert server.requests[0].target == f"{PATH}/team/predictionsobserver/fib-gpu"


async def test_the_numbers_are_those_of_the_server(
    tmp_path: Path, capsysbinary: pytest.CaptureFixture[bytes]
) -> None:
    numbers = {"kind": "Prediction", "desiredReplicas": 12}
    async with http_server(answering(numbers)) as server:
        assert await report(tmp_path, server.url, "fib-gpu", "--json") == 0

    assert json.loads(capsysbinary.readouterr().out) == numbers
    assert server.requests[0].target == f"{PATH}/default/predictions/fib-gpu"


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        ({}, "200 OK", "the answer has no content"),
        ({"content": 3}, "200 OK", "the answer has no content"),
        ({"content": "%%%"}, "200 OK", "the answer is no page"),
        ([], "200 OK", "the answer is no page"),
        ({"message": "no autoscaler fib-gpu", "reason": "NotFound"}, "404 X", "no autoscaler fib"),
        ({"message": "not allowed"}, "403 X", "not allowed"),
        ({"message": "unavailable"}, "503 X", "does metricsapi run?"),
    ],
)
async def test_what_cannot_be_reported_is_one_line_and_exit_2(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    body: object,
    status: str,
    words: str,
) -> None:
    async with http_server(answering(body, status)) as server:
        assert await report(tmp_path, server.url, "fib-gpu") == 2

    found = capsys.readouterr()
    assert words in found.err
    assert found.err.count("\n") == 1
    assert found.out == ""


async def test_a_cluster_without_the_metrics_api_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with plane_server(tmp_path) as plane:
        assert await report(tmp_path, plane.url, "fib-gpu") == 2

    assert "is APIService v1beta1.metrics.alibabacloud.com of metricsapi there?" in (
        capsys.readouterr().err
    )


async def test_a_file_that_cannot_be_written_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    async with http_server(answering(PREDICTION)) as server:
        assert await report(tmp_path, server.url, "fib-gpu", "-o", str(tmp_path)) == 2

    assert f"{tmp_path}: cannot be written" in capsys.readouterr().err
