import pynvml

from fakes.nvml_driver import NvmlDriver
from gputide.exporter.fields import Field
from gputide.exporter.nvml.support import REMEMBERED_SECONDS, Support

LASTING = pynvml.NVMLError(pynvml.NVML_ERROR_NOT_SUPPORTED)
PASSING = pynvml.NVMLError(pynvml.NVML_ERROR_TIMEOUT)
FAN, POWER = Field.FAN_SPEED_RATIO, Field.POWER_WATTS


def test_what_is_not_supported_is_remembered_and_a_passing_error_is_not() -> None:
    support = Support(now_seconds=0)
    support.refuse((FAN,), LASTING)
    support.refuse((POWER,), PASSING)
    assert set(support.reasons()) == {FAN, POWER}

    support.begin(now_seconds=5)

    assert set(support.reasons()) == {FAN}
    assert support.skips((FAN,))
    assert not support.skips((FAN, POWER))


def test_after_an_hour_everything_is_asked_again() -> None:
    support = Support(now_seconds=0)
    support.refuse((FAN,), LASTING)

    support.begin(now_seconds=REMEMBERED_SECONDS)

    assert not support.skips((FAN,))


def test_a_refused_call_is_not_made_again(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
counts = []
for _ in range(3):
    before = calls()
    reading = reader.read(gpu)
    counts.append(calls() - before)
result = [counts, reading.unsupported.get(Field.FAN_SPEED_RATIO)]
"""
    all_asked, _ = driver.run(program)
    refused, why = driver.run(program, {"0.refuse.fan": 3, "0.refuse.bar1": 4})

    assert refused[1] == all_asked[1] - 2
    assert refused[2] == refused[1]
    assert why == "this GPU or driver does not support it"
