from pathlib import Path

import pytest

from gputide.cli.exporter import _is_in_dcgms_image, exporter
from gputide.errors import InputError, SettingError
from gputide.exporter.settings import DCGM_FOLDER, ExporterSettings


def test_the_lists_of_dcgms_image_are_built_in() -> None:
    assert _is_in_dcgms_image(DCGM_FOLDER / "default-counters.csv")
    assert not _is_in_dcgms_image(Path("/etc/mine/default-counters.csv"))
    assert not _is_in_dcgms_image(DCGM_FOLDER / "mine.csv")


@pytest.mark.parametrize(
    ("settings", "error", "problem"),
    [
        (ExporterSettings(address="nowhere"), SettingError, "is not HOST:PORT"),
        (ExporterSettings(collectors=Path("no.csv")), InputError, "no.csv: cannot be read"),
        (ExporterSettings(web_config_file=Path("no.yml")), InputError, "no.yml: cannot be read"),
    ],
)
def test_a_wrong_setting_ends_it_before_anything_is_served(
    settings: ExporterSettings, error: type[Exception], problem: str
) -> None:
    with pytest.raises(error) as caught:
        exporter(settings)

    assert problem in str(caught.value)
