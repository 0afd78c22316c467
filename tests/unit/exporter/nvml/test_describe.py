from fakes.nvml_driver import NvmlDriver

DEVICES = """
from dataclasses import asdict
result = [asdict(each) for each in reader.devices()]
"""


def test_a_gpu_tells_who_it_is(driver: NvmlDriver) -> None:
    first, second = driver.run(DEVICES, {"count": 2, "model": "Tesla T4", "1.brand": 2})

    assert first["uuid"] == "GPU-00000000-0000-0000-0000-000000000000"
    assert second["pci_bus_id"] == "00000000:18:00.0"
    assert second["minor_number"] == second["index"] == 1
    assert first["model_name"] == "Tesla T4"
    assert first["memory_bytes"] == 81_559 * 2**20
    assert not first["is_mig_enabled"]
    assert first["facts"] == {
        "driver_version": "570.133.20",
        "nvml_version": "12.570.133.20",
        "cuda_version": "12.8",
        "brand": "Nvidia",
        "serial": "1560000000000",
        "vbios_version": "96.00.74.00.01",
        "inforom_image_version": "G520.0200.00.05",
        "oem_inforom_version": "1.0",
        "ecc_inforom_version": "2.0",
        "power_inforom_version": "3.0",
    }
    assert second["facts"]["brand"] == "Tesla"


def test_what_a_gpu_does_not_tell_is_left_out(driver: NvmlDriver) -> None:
    state = {"0.refuse.serial": 3, "0.refuse.inforom": 17, "0.refuse.minor": 3}
    (gpu,) = driver.run(DEVICES, state)

    assert "serial" not in gpu["facts"]
    assert "ecc_inforom_version" not in gpu["facts"]
    assert gpu["minor_number"] == 0


def test_an_older_driver_is_enumerated_too(old_driver: NvmlDriver) -> None:
    (gpu,) = old_driver.run(DEVICES)

    assert gpu["memory_bytes"] == 81_559 * 2**20
    assert not gpu["is_mig_enabled"]


def test_no_gpu_is_no_error(driver: NvmlDriver) -> None:
    assert driver.run(DEVICES, {"count": 0}) == []
