"""Whatever is wrong with the input: exit code 2, one line that says what and where, no file."""

import asyncio
import gzip
import math
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from threading import Thread

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.http_server import HttpServer, http_server, response
from gputide.cli import run

T0 = 1_700_000_040  # a whole minute
GOOD = [f"{T0 + 60 * i},{50 + 40 * math.sin(i / 229):.3f}" for i in range(5 * 1440)]


def csv(*rows: str, header: str = "timestamp,value") -> bytes:
    return "\n".join([header, *rows]).encode()


FILES: dict[str, bytes] = {
    "good.csv": csv(*GOOD),
    "empty.csv": b"",
    "header.csv": csv(),
    "one-row.csv": csv(f"{T0},1"),
    "no-header.csv": "\n".join(GOOD[:9]).encode(),
    "unsorted.csv": csv(*GOOD[:9], GOOD[3]),
    "twice.csv": csv(*GOOD[:9], GOOD[8]),
    "two-cadences.csv": csv(*GOOD[:99], *GOOD[104:999:5]),
    "text.csv": csv(GOOD[0], f"{T0 + 60},1.2 GPUs"),
    "nan.csv": csv(GOOD[0], f"{T0 + 60},NaN"),
    "inf.csv": csv(GOOD[0], f"{T0 + 60},-Inf"),
    "negative.csv": csv(GOOD[0], f"{T0 + 60},-0.5"),
    "far.csv": csv("800000000,1", *GOOD[:99]),
    "1970.csv": csv("0,1", *GOOD[:99]),
    "year-50000.csv": csv(GOOD[0], f"{(T0 + 60) * 1000},1"),
    "zones.csv": csv("2026-01-05T10:00:00,1", "2026-01-05T10:01:00Z,1"),
    "no-gzip.csv.gz": csv(*GOOD[:9]),
    "cut.csv.gz": gzip.compress(csv(*GOOD))[:-500],
    "latin.csv": csv("1,é").replace("é".encode(), b"\xe9"),
    "pods.csv": csv(f"{T0},a,1", f"{T0},b,1", header="timestamp,pod,percent"),
    "short-row.csv": csv(GOOD[0], f"{T0 + 60}"),
    "good.yaml": ahpa_yaml().encode(),
    "unknown-field.yaml": ahpa_yaml(("quantile: 95", "quantil: 95")).encode(),
    "min-max.yaml": ahpa_yaml(("minReplicas: 0", "minReplicas: 101")).encode(),
    "cron.yaml": ahpa_yaml(("* 0-8 ?", "* 0-25 ?")).encode(),
    "window.yaml": ahpa_yaml(('"2022-12-16 0', '"2021-12-15 0')).encode(),
    "quantile-0.yaml": ahpa_yaml(("quantile: 95", "quantile: 0")).encode(),
    "quantile-100.yaml": ahpa_yaml(("quantile: 95", "quantile: 100")).encode(),
    "syntax.yaml": ahpa_yaml(("spec:", "spec: [")).encode(),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("input")
    for name, content in FILES.items():
        (folder / name).write_bytes(content)
    (folder / "folder.csv").mkdir()
    return folder


def refused(arguments: str, folder: Path, capfd: pytest.CaptureFixture[str]) -> str:
    """Return the one line of a command that must fail; `{}` in the arguments is the folder."""
    before = sorted(folder.rglob("*"))
    outputs = ["--json", str(folder / "out.json")]
    outputs += ["--html", str(folder / "out.html")] if arguments.startswith("backtest") else []

    code = run([*arguments.format(folder).split(), *outputs])

    stdout, stderr = capfd.readouterr()
    assert code == 2
    assert stdout == ""
    assert len(stderr.splitlines()) == 1
    assert sorted(folder.rglob("*")) == before
    return stderr.removeprefix("gputide: ").replace(f"{folder}/", "").strip()


@pytest.mark.parametrize("command", ["backtest", "forecast"])
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("empty.csv", "empty.csv: is empty"),
        ("header.csv", "header.csv: has no row below its header"),
        ("one-row.csv", "one-row.csv: has one row below its header"),
        ("no-header.csv", "no-header.csv:1: no header"),
        (
            "unsorted.csv",
            "unsorted.csv:11: time 2023-11-14 22:17:00Z lies before the one",
        ),
        ("twice.csv", "twice.csv:11: time 2023-11-14 22:22:00Z occurs twice (first on line 10)"),
        ("two-cadences.csv", "two-cadences.csv:100: two cadences"),
        ("text.csv", "text.csv:3: value '1.2 GPUs' is no number"),
        ("nan.csv", "nan.csv:3: value is 'NaN'"),
        ("inf.csv", "inf.csv:3: value is '-Inf'"),
        ("negative.csv", "negative.csv:3: value '-0.5' is negative"),
        ("far.csv", "far.csv:3: the file spans 10,417 days, at most 1,098"),
        ("1970.csv", "1970.csv:2: time '0' is no Unix time of 1990-2100"),
        ("year-50000.csv", "year-50000.csv:3: time '1700000100000' lies outside 1990-2100"),
        ("zones.csv", "zones.csv:3: time '2026-01-05T10:01:00Z' differs in form"),
        ("folder.csv", "folder.csv: is a directory"),
        ("none.csv", "none.csv: no such file or directory"),
        ("no-gzip.csv.gz", "no-gzip.csv.gz: is no gzip file"),
        ("cut.csv.gz", "cut.csv.gz:"),
        ("latin.csv", "latin.csv:2: no UTF-8 text"),
        ("pods.csv", "pods.csv:3: time 2023-11-14 22:14:00Z occurs twice"),
        ("short-row.csv", "short-row.csv:3: 1 fields where the header has 2"),
    ],
)
def test_a_file_that_is_no_load_is_refused(
    command: str, file: str, expected: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert refused(f"{command} --csv {{}}/{file}", folder, capfd).startswith(expected)


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "forecast --csv {}/good.csv --value-column rps",
            "value-column: column 'rps' is not",
        ),
        ("forecast --csv {}/good.csv --time-zone Mars", "time-zone: 'Mars' is no"),
        ("forecast --csv {}/good.csv --quantile 0", "quantile: 0 is no quantile"),
        ("forecast --csv {}/good.csv --quantile 100", "quantile: 100 is no quantile"),
        ("backtest --csv {}/good.csv --quantile 0", "quantile: 0 is no quantile"),
        ("backtest --csv {}/good.csv --quantile 100", "quantile: 100 is no quantile"),
        ("forecast --csv {}/good.csv --history-days 0", "history-days: must be"),
        ("forecast --csv {}/good.csv --quantile high", "Invalid value for --quantile"),
        ("forecast --csv {}/good.csv --nope", "Unknown option: --nope"),
        ("forecast --csv {}/good.csv --generated", "load: give exactly one of --csv, --query"),
        ("forecast", "load: give exactly one of --csv, --query, --ahpa, --generated; none is"),
        ("forecast --query up", "prometheus: missing: the server that --query asks"),
        ("forecast --ahpa {}/good.yaml", "prometheus: missing: the server that --ahpa asks"),
        ("forecast --prometheus http://p:9", "query: missing: what to ask"),
        ("forecast --csv {}/good.csv --prometheus http://p:9", "prometheus: cannot go together"),
        ("forecast --prometheus p:9 --query up", "prometheus-url: must look like http"),
        ("forecast --prometheus http://p:9 --query up --days 0", "days: must be above 0"),
        ("forecast --prometheus http://p:9 --query up --until soon", "until: 'soon' is neither"),
    ],
)
def test_a_setting_that_cannot_be_is_refused(
    arguments: str, expected: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert refused(arguments, folder, capfd).startswith(expected)


@pytest.mark.parametrize("command", ["backtest", "forecast"])
@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("unknown-field.yaml", "unknown-field.yaml:22: spec.prediction.quantil: is no field"),
        ("min-max.yaml", "min-max.yaml:19: spec.minReplicas: 101 is more than maxReplicas 100"),
        ("cron.yaml", "cron.yaml:28: spec.instanceBounds[0].bounds[0].cron: '* 0-25 ? * MON-FRI'"),
        ("window.yaml", "window.yaml:25: spec.instanceBounds[0].startTime: 2021-12-16 00:00:00 is"),
        ("quantile-0.yaml", "quantile-0.yaml:22: spec.prediction.quantile: 0 is no quantile"),
        ("quantile-100.yaml", "quantile-100.yaml:22: spec.prediction.quantile: 100 is no"),
        ("syntax.yaml", "syntax.yaml:"),
        ("good.csv", "good.csv: holds no AdvancedHorizontalPodAutoscaler"),
        ("none.yaml", "none.yaml: no such file or directory"),
    ],
)
def test_a_resource_with_a_mistake_is_refused_before_anything_is_asked(
    command: str, file: str, expected: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    arguments = f"{command} --prometheus http://127.0.0.1:9 --ahpa {{}}/{file}"

    assert refused(arguments, folder, capfd).startswith(expected)


@contextmanager
def answering(answer: bytes) -> Iterator[HttpServer]:
    """Serve one answer from another thread while the block runs."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever)
    thread.start()
    context = http_server(lambda _: answer)
    server = asyncio.run_coroutine_threadsafe(context.__aenter__(), loop).result(30)
    try:
        yield server
    finally:
        leaving = context.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(leaving, loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


SUCCESS = b'{"status": "success", "data": {"resultType": "matrix", "result": %s}}'


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (response(b"", "401 Unauthorized"), "401"),
        (
            response(
                b'{"status": "error", "errorType": "bad_data", "error": "parse error: x"}',
                "422 Unprocessable Entity",
            ),
            "parse error: x",
        ),
        (response(b"<html>log in</html>", content_type="text/html"), "a web page instead of JSON"),
        (response(SUCCESS % b"[]"), "up: empty result from "),
        (
            response(
                SUCCESS
                % b'[{"metric": {"a": "1"}, "values": []}, {"metric": {"a": "2"}, "values": []}]'
            ),
            "up: ",
        ),
    ],
    ids=["401", "422", "html", "empty", "nothing-in-two"],
)
def test_a_server_without_an_answer_is_refused(
    answer: bytes, expected: str, folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with answering(answer) as server:
        text = refused(f"forecast --prometheus {server.url} --query up", folder, capfd)

    assert expected in text


def test_a_server_that_cannot_be_reached_is_named(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    with answering(b"") as gone:
        pass

    text = refused(f"forecast --prometheus {gone.url} --query up", folder, capfd)

    assert text.startswith(f"{gone.url}: cannot connect")
