"""The vendor's YAML as it stands, and mistakes in it named by file, line and field."""

from pathlib import Path

import pytest

from fakes.ahpa_yaml import ahpa_yaml
from fakes.shared import TUTORIALS
from gputide.backtest.load.ahpa_file import AhpaFile, read_ahpa_file
from gputide.errors import InputError, SettingError

TUTORIAL = TUTORIALS / "fib-gpu.yaml"


def read(tmp_path: Path, text: str | bytes, *, time_zone: str | None = None) -> AhpaFile:
    path = tmp_path / "fib.yaml"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_ahpa_file(path, time_zone=time_zone)


def refused(tmp_path: Path, text: str | bytes) -> str:
    with pytest.raises(InputError) as caught:
        read(tmp_path, text)
    message = str(caught.value)
    assert len(message.splitlines()) == 1
    return message.replace(f"{tmp_path}/", "")


def test_the_sample_is_taken_as_it_is(tmp_path: Path) -> None:
    autoscaler = read(tmp_path, ahpa_yaml()).autoscaler

    assert (autoscaler.namespace, autoscaler.name) == ("default", "fib-gpu")
    assert autoscaler.target is not None
    assert autoscaler.target.name == "bert-intent-detection"
    assert (autoscaler.quantile, autoscaler.lead_seconds) == (0.95, 180)
    assert autoscaler.metrics[0].target == 0.2
    assert [bound.min_replicas for bound in autoscaler.bounds.windows[0].bounds] == [4, 10, 12]


@pytest.mark.shared
@pytest.mark.skipif(not TUTORIAL.is_file(), reason="no tutorial manifests beside the checkout")
def test_the_vendors_own_file_says_the_same_as_our_sample(tmp_path: Path) -> None:
    ours, theirs = read(tmp_path, ahpa_yaml()).autoscaler, read_ahpa_file(TUTORIAL).autoscaler

    assert theirs == ours


def test_the_resource_is_found_among_other_documents(tmp_path: Path) -> None:
    other = "apiVersion: v1\nkind: Service\nmetadata: {name: s}\n"

    file = read(tmp_path, f"{other}---\n{ahpa_yaml()}---\n---\n{other}")

    assert file.autoscaler.name == "fib-gpu"


def test_lines_count_from_the_top_of_the_file(tmp_path: Path) -> None:
    text = f"kind: Service\n---\n{ahpa_yaml(('minReplicas: 0', 'minReplicas: 500'))}"

    assert (
        refused(tmp_path, text) == "fib.yaml:21: spec.minReplicas: 500 is more than maxReplicas 100"
    )


def test_a_zone_comes_from_the_file_then_the_flag_then_is_utc_and_said(tmp_path: Path) -> None:
    zoned = ahpa_yaml(("spec:\n", "spec:\n  timeZone: Asia/Shanghai\n"))

    silent = read(tmp_path, ahpa_yaml())
    flagged = read(tmp_path, ahpa_yaml(), time_zone="Europe/Berlin")
    named = read(tmp_path, zoned, time_zone="Europe/Berlin")

    assert silent.autoscaler.bounds.zone.key == "UTC"
    assert "names no timeZone" in silent.warnings[0]
    assert (flagged.autoscaler.bounds.zone.key, flagged.warnings) == ("Europe/Berlin", ())
    assert (named.autoscaler.bounds.zone.key, named.warnings) == ("Asia/Shanghai", ())


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        ("minReplicas: 0", "minReplicas: 500", "fib.yaml:19: spec.minReplicas: 500 is more than"),
        ("minReplicas: 12,", "minReplicas: 60,", "fib.yaml:30: spec.instanceBounds[0].bounds[2]"),
        ('MON-FRI", minReplicas: 10', 'MON-FRX", minReplicas: 10', "fib.yaml:29: spec.instance"),
        ("* 9-15 ?", "* 9-25 ?", "fib.yaml:29: spec.instanceBounds[0].bounds[1].cron: '* 9-25"),
        ('"2022-12-16 0', '"2020-12-16 0', "fib.yaml:25: spec.instanceBounds[0].startTime: 2021"),
        ('"2022-12-16 00:00:00"', "soon", "fib.yaml:26: spec.instanceBounds[0].endTime: 'soon'"),
        ("quantile: 95", "quantile: 0", "fib.yaml:22: spec.prediction.quantile: 0 is no quantile"),
        ("quantile: 95", "quantile: 100", "fib.yaml:22: spec.prediction.quantile: 100 is no"),
        ("quantile: 95", "quantil: 95", "fib.yaml:22: spec.prediction.quantil: is no field"),
        ("scaleStrategy: observer", "scaleStrategy: guess", "fib.yaml:11: spec.scaleStrategy: 'gu"),
        ("maxReplicas: 100", "maxReplicas: ten", "fib.yaml:20: spec.maxReplicas: expected `int`"),
        ("maxReplicas: 100", "maxReplicas: 1\n  maxReplicas: 2", "fib.yaml:21: no YAML: 'maxRep"),
        ("spec:\n", "spec:\n  timeZone: Mars/Olympus\n", "fib.yaml:7: spec.timeZone: 'Mars/Ol"),
        ("  metrics:\n", "  metrics: [\n", "fib.yaml:13: no YAML: "),
        ("spec:\n", "spec:\n\tx: 1\n", "fib.yaml:7: no YAML: found character '\\t'"),
        ("name: fib-gpu", "name: *missing", "fib.yaml:4: no YAML: found undefined alias"),
        ("name: fib-gpu", "name: !!python/name:os.system", "fib.yaml:4: no YAML: could not"),
        ('"2021-12-16 00:00:00"', "2021-13-16 00:00:00", "fib.yaml: no YAML: month must be in 1"),
        ("kind: Adv", "kind: Bdv", "fib.yaml: holds no AdvancedHorizontalPodAutoscaler; it has"),
        ("v1beta1", "v9", "fib.yaml:1: apiVersion: 'autoscaling.alibabacloud.com/v9' is not"),
    ],
)  # fmt: skip
def test_a_mistake_is_named_by_file_line_and_field(
    tmp_path: Path, old: str, new: str, expected: str
) -> None:
    assert refused(tmp_path, ahpa_yaml((old, new))).startswith(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "fib.yaml: holds no AdvancedHorizontalPodAutoscaler; it has nothing with a kind"),
        ("- 1\n- 2\n", "fib.yaml: holds no AdvancedHorizontalPodAutoscaler; it has nothing"),
        ("kind: [a]", "fib.yaml: holds no AdvancedHorizontalPodAutoscaler"),
        ("[" * 600, "fib.yaml: no YAML for people: nested too deeply"),
        (b"\xff\xfe", "fib.yaml: no UTF-8 text (byte 1)"),
        (b"a: \x00", "fib.yaml: no YAML: "),
        (b"#" * (1 << 20) + b"#", "fib.yaml: is larger than 1 MiB"),
        (f"{ahpa_yaml()}---\n{ahpa_yaml()}", "fib.yaml: holds 2 of kind Advanced"),
    ],
    ids=["empty", "list", "odd-kind", "deep", "bytes", "nul", "large", "two"],
)
def test_a_file_without_the_one_resource_is_refused(
    tmp_path: Path, text: str | bytes, expected: str
) -> None:
    assert refused(tmp_path, text).startswith(expected)


def test_a_missing_file_and_a_folder_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.yaml: no such file"):
        read_ahpa_file(tmp_path / "none.yaml")
    with pytest.raises(InputError, match="is a directory"):
        read_ahpa_file(tmp_path)


def test_a_problem_found_later_is_put_at_its_line(tmp_path: Path) -> None:
    file = read(tmp_path, ahpa_yaml())

    error = file.problem(SettingError("spec.metrics[0].resource.name", "is no demand"))

    assert str(error).endswith("fib.yaml:15: spec.metrics[0].resource.name: is no demand")
