from dataclasses import fields

import pytest

from gputide.errors import SettingError
from gputide.exporter.dcgm_settings import REASONS, IgnoredSettings, check_variables, ignored


def test_every_flag_without_effect_has_its_reason() -> None:
    assert {each.name for each in fields(IgnoredSettings)} == set(REASONS)


def test_flags_that_were_given_are_told_and_harmless_values_are_not() -> None:
    settings = IgnoredSettings(remote_hostengine_info="localhost:5555", debug=True)

    assert ignored(settings) == {"--debug": "there is one level of detail"}
    assert ignored(IgnoredSettings()) == {}


def test_variables_of_dcgm_exporter_may_stay() -> None:
    check_variables(["DCGM_EXPORTER_LISTEN", "DCGM_EXPORTER_COLLECTORS", "PATH"])
    check_variables(["DCGM_EXPORTER_SERVICE_HOST", "DCGM_EXPORTER_PORT_9400_TCP"])


def test_a_variable_that_dcgm_exporter_does_not_have_is_named() -> None:
    with pytest.raises(SettingError, match=r"^DCGM_EXPORTER_LISTN: is no variable"):
        check_variables(["DCGM_EXPORTER_LISTN"])
