from fakes.nvml_driver import NvmlDriver

WAIT = """
gpus = reader.devices()
before = reader.read(gpus[0]).values.get(Field.XID_LAST)
events = [reader.next_xid(timeout_seconds=0.02) for _ in range(4)]
last = [reader.read(each).values.get(Field.XID_LAST) for each in gpus]
reason = reader.read(gpus[0]).unsupported.get(Field.XID_LAST)
result = [before, events, last, reason]
"""


def test_each_event_is_told_once_and_a_repeated_code_again(driver: NvmlDriver) -> None:
    state = {"count": 2, "1.xid": 31, "1.xids": 2}
    before, events, last, _ = driver.run(WAIT, state)
    uuid = "GPU-00000000-0000-0000-0000-000000000001"

    assert before == 0
    assert events == [[uuid, 31], [uuid, 31], None, None]
    assert last == [0, 31]


def test_a_gpu_without_events_says_why_it_has_no_last_xid(driver: NvmlDriver) -> None:
    before, events, last, reason = driver.run(WAIT, {"0.refuse.events": 3})

    assert before is None
    assert events == [None] * 4
    assert last == [None]
    assert reason == "this GPU or driver does not support it"


def test_a_lost_gpu_does_not_make_the_event_thread_spin(driver: NvmlDriver) -> None:
    program = """
reader.devices()
began = clock.monotonic_seconds()
event = reader.next_xid(timeout_seconds=0.05)
result = [event, clock.monotonic_seconds() - began]
"""
    event, taken = driver.run(program, {"eventerror": 15})

    assert event is None
    assert taken >= 0.05


def test_a_driver_that_is_gone_is_a_driver_error(driver: NvmlDriver) -> None:
    program = """
reader.devices()
result = problem(lambda: reader.next_xid(timeout_seconds=0.01))
"""
    assert driver.run(program, {"eventerror": 9})[0] == "DriverError"


def test_before_the_driver_is_there_waiting_waits(no_driver: NvmlDriver) -> None:
    assert no_driver.run("result = reader.next_xid(timeout_seconds=0.01)") is None
