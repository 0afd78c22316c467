from pathlib import Path

import pytest

from gputide.cli import run
from gputide.cli.metricsapi import serve
from gputide.errors import GputideError
from gputide.metricsapi.settings import MetricsSettings, ServingSettings

RULES = """\
rules:
  - seriesQuery: 'requests_total{namespace!="",pod!=""}'
    resources: {overrides: {namespace: {resource: namespace}, pod: {resource: pod}}}
    metricsQuery: 'sum(<<.Series>>{<<.LabelMatchers>>}) by (<<.GroupBy>>)'
"""
NOWHERE = "http://127.0.0.1:1"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (None, "rules.yaml"),
        ("rules: [", "rules.yaml"),
        ("rules: 3", "rules.yaml"),
        (RULES.replace("<<.Series>>", "<<.Unheard>>"), "Unheard"),
    ],
)
def test_rules_that_cannot_be_read_are_named_in_one_line(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str | None, words: str
) -> None:
    path = tmp_path / "rules.yaml"
    if content is not None:
        path.write_text(content)
    command = ["metricsapi", "explain", "requests", "--config", str(path)]

    assert run([*command, "--prometheus-url", NOWHERE]) == 2

    found = capsys.readouterr()
    assert words in found.err
    assert found.err.count("\n") == 1


def test_an_explanation_needs_a_prometheus(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "rules.yaml"
    path.write_text(RULES)

    assert run(["metricsapi", "explain", "requests", "--config", str(path)]) == 2

    assert "prometheus" in capsys.readouterr().err


def test_a_bad_certificate_ends_it_before_anything_is_served(tmp_path: Path) -> None:
    serving = ServingSettings(
        without_cluster=True,
        authorization="none",
        bind_address="127.0.0.1",
        secure_port=0,
        metrics_address="",
        tls_cert_file=tmp_path / "none.crt",
        tls_private_key_file=tmp_path / "none.key",
    )

    with pytest.raises(GputideError, match=r"none\.(crt|key)"):
        serve(serving, metrics=MetricsSettings(forecast_url=(NOWHERE,)))
