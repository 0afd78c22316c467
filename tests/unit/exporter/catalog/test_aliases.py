from gputide.exporter.catalog import ALIASES, BY_NAME, DCGM_4_6, EXPORTER_1, is_known


def test_every_other_name_leads_to_a_row_and_hides_none() -> None:
    assert [other for other, name in ALIASES.items() if name not in BY_NAME] == []
    assert set(ALIASES) & set(BY_NAME) == set()


def test_the_names_of_4_6_are_dcgms_and_the_old_ones_are_in_small_letters() -> None:
    assert [name for name in DCGM_4_6 if not is_known(name)] == []
    assert [name for name in EXPORTER_1 if not name.startswith("dcgm_")] == []


def test_renamed_fields_keep_what_they_mean() -> None:
    assert ALIASES["DCGM_FI_DEV_GPU_UTIL_RATIO"] == "DCGM_FI_DEV_GPU_UTIL"
    assert ALIASES["DCGM_FI_DEV_BOARD_POWER_WATTS"] == "DCGM_FI_DEV_POWER_USAGE"
    assert ALIASES["dcgm_gpu_utilization"] == "DCGM_FI_DEV_GPU_UTIL"
