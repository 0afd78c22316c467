from fakes.nvml_driver import NvmlDriver

CALLS = (
    *("fields", "clock", "reasons", "pstate", "fan", "temperature", "power", "utilization"),
    *("encoder", "decoder", "bar1", "replays", "linkgen", "linkwidth", "memory", "memory2"),
    *("appclock", "maxclock", "threshold", "limit", "enforcedlimit", "defaultlimit", "limits"),
    *("maxlinkgen", "maxlinkwidth", "license", "gpm"),
)


def test_a_gpu_that_refuses_everything_is_a_device_error_with_the_reasons(
    driver: NvmlDriver,
) -> None:
    state = {f"0.refuse.{name}": 999 for name in CALLS} | {"0.refuse.migmode": 3}

    kind, text = driver.run("result = problem(reader.read, reader.devices()[0])", state)

    assert kind == "DeviceError"
    assert "GPU 0" in text
    assert "Unknown Error" in text


def test_a_passing_error_costs_one_field_of_one_reading(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
first = reader.read(gpu)
state({})
second = reader.read(gpu)
result = [first.unsupported[Field.POWER_WATTS], second.values[Field.POWER_WATTS]]
"""
    reason, power = driver.run(program, {"0.refuse.power": 999})

    assert reason == "the driver answers: Unknown Error"
    assert power == 412.5


def test_steady_values_are_not_asked_for_at_each_reading(driver: NvmlDriver) -> None:
    program = """
gpu = reader.devices()[0]
reader.read(gpu)
state({"0.limit": 500000, "0.power": 1000})
values = reader.read(gpu).values
result = [values[Field.POWER_LIMIT_WATTS], values[Field.POWER_WATTS]]
"""
    assert driver.run(program) == [700, 1]


def test_a_reset_that_is_required_is_said(driver: NvmlDriver) -> None:
    program = "result = problem(reader.read, reader.devices()[0])"

    assert driver.run(program, {"0.refuse.fields": 16}) == [
        "DeviceError",
        "GPU 0: the driver asks for a reset of it",
    ]
