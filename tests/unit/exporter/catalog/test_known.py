import pytest

from gputide.exporter.catalog import is_known


@pytest.mark.parametrize(
    "name",
    [
        "DCGM_FI_DEV_GPU_TEMP",
        "DCGM_FI_DEV_NVLINK_BANDWIDTH_L0",
        "DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_L17",
        "DCGM_FI_PROF_NVDEC3_ACTIVE",
        "DCGM_FI_DEV_CPU_TEMP_CURRENT",
        "DCGM_EXP_GPU_HEALTH_STATUS",
    ],
)
def test_a_field_of_dcgm_is_known(name: str) -> None:
    assert is_known(name)


@pytest.mark.parametrize(
    "name", ["DCGM_FI_DEV_GPU_TMP", "DEV_GPU_TEMP", "dcgm_fi_dev_gpu_temp", "DCGM_FI_", ""]
)
def test_a_typing_error_is_not(name: str) -> None:
    assert not is_known(name)
