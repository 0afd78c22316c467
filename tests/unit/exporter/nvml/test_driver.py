import pynvml
import pytest

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.nvml.driver import is_lasting, raise_if_fatal, reason
from gputide.exporter.ports import DeviceError, DeviceLostError, DriverError


def test_no_library_is_a_driver_error_with_what_would_mend_it(no_driver: NvmlDriver) -> None:
    kind, text = no_driver.run("result = problem(reader.devices)")

    assert kind == "DriverError"
    assert "install the NVIDIA driver" in text


@pytest.mark.parametrize(
    ("code", "advice"),
    [
        (pynvml.NVML_ERROR_DRIVER_NOT_LOADED, "modprobe nvidia"),
        (pynvml.NVML_ERROR_NO_PERMISSION, "/dev/nvidiactl"),
        (pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH, "reboot"),
        (pynvml.NVML_ERROR_UNKNOWN, "Unknown Error"),
    ],
)
def test_a_driver_that_does_not_start_says_what_would_mend_it(
    driver: NvmlDriver, code: int, advice: str
) -> None:
    kind, text = driver.run("result = problem(reader.devices)", {"init": code})

    assert kind == "DriverError"
    assert advice in text


def test_a_driver_that_comes_later_is_found(driver: NvmlDriver) -> None:
    program = """
result = [problem(reader.devices) is not None]
state({"count": 3})
result.append(len(reader.devices()))
"""
    assert driver.run(program, {"init": pynvml.NVML_ERROR_DRIVER_NOT_LOADED}) == [True, 3]


def test_a_driver_that_is_reloaded_is_started_anew(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
reader.read(gpu)
state({"gone": 1})
result = [problem(reader.read, gpu), problem(reader.devices)]
state({"0.power": 99000})
again = reader.devices()[0]
result.append(reader.read(again).values[Field.POWER_WATTS])
"""
    reading, enumeration, power = driver.run(program)

    assert reading[0] == enumeration[0] == "DriverError"
    assert "kernel module" in reading[1]
    assert power == 99


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (pynvml.NVML_ERROR_GPU_IS_LOST, DeviceLostError),
        (pynvml.NVML_ERROR_RESET_REQUIRED, DeviceError),
        (pynvml.NVML_ERROR_UNINITIALIZED, DriverError),
    ],
)
def test_errors_of_the_whole_gpu_or_driver_are_raised(code: int, kind: type[Exception]) -> None:
    with pytest.raises(kind):
        raise_if_fatal(pynvml.NVMLError(code), "GPU 3")


def test_an_error_of_one_call_is_a_reason_and_some_reasons_last() -> None:
    refusal = pynvml.NVMLError(pynvml.NVML_ERROR_NO_PERMISSION)
    passing = pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)

    raise_if_fatal(refusal, "GPU 3")
    assert "CAP_SYS_ADMIN" in reason(refusal)
    assert is_lasting(refusal)
    assert reason(passing) == "the driver answers: Timeout"
    assert not is_lasting(passing)


def test_the_driver_is_not_shut_down_under_a_call_that_is_out(driver: NvmlDriver) -> None:
    program = """
import threading
gpu = reader.devices()[0]
state({"0.hang": 30})
thread = threading.Thread(target=problem, args=(reader.read, gpu), daemon=True)
thread.start()
while not pynvml.nvmlLib.gputide_fake_hanging():
    thread.join(0.01)
closing = threading.Thread(target=reader.close, daemon=True)
closing.start()
early = pynvml.nvmlLib.gputide_fake_shutdowns()
state({})
closing.join(20)
result = [early, thread.is_alive(), pynvml.nvmlLib.gputide_fake_shutdowns()]
"""
    assert driver.run(program) == [0, False, 1]
