from fakes.nvml_driver import NvmlDriver

TWICE = """
gpu = reader.devices()[0]
first, second = reader.read(gpu), reader.read(gpu)
result = [first.values, first.unsupported, second.values, second.unsupported, second.mig_values]
"""
ACTIVE = "profiling_graphics_engine_active_ratio"


def test_profiling_values_are_there_from_the_second_reading_on(driver: NvmlDriver) -> None:
    first, early, second, later, _ = driver.run(TWICE, {"0.gpm.1": 87.5, "0.gpm.20": 2})

    assert ACTIVE not in first
    assert early[ACTIVE] == "known from the second reading on"
    assert second[ACTIVE] == 0.875
    assert second["profiling_pcie_sent_bytes_per_second"] == 2 * 2**20
    assert ACTIVE not in later


def test_what_the_driver_answers_with_nan_is_left_out(driver: NvmlDriver) -> None:
    _, _, second, later, _ = driver.run(TWICE, {"0.gpm.1": 10})

    assert "profiling_sm_active_ratio" not in second
    assert "profiling_sm_active_ratio" not in later


def test_a_gpu_before_hopper_says_why_it_has_none(driver: NvmlDriver) -> None:
    for state in ({"0.gpm": 0}, {"0.refuse.gpm": 3}):
        _, early, second, later, _ = driver.run(TWICE, {"0.gpm.1": 10, **state})

        assert ACTIVE not in second
        assert "Hopper" in early[ACTIVE]
        assert "Hopper" in later[ACTIVE]


def test_no_permission_to_profile_is_said(driver: NvmlDriver) -> None:
    _, _, _, later, _ = driver.run(TWICE, {"0.refuse.gpmsample": 4})

    assert "CAP_SYS_ADMIN" in later[ACTIVE]


def test_a_mig_instance_has_profiling_values_of_its_own(driver: NvmlDriver) -> None:
    state = {"0.mig": 2, "0.gpm.7.1": 40, "0.gpm.8.1": 90, "0.gpm.8.20": 5}
    *_, instances = driver.run(TWICE, state)

    assert instances["7"][ACTIVE] == 0.4
    assert instances["8"][ACTIVE] == 0.9
    assert "profiling_pcie_sent_bytes_per_second" not in instances["8"]
