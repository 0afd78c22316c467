import threading

import pytest

from fakes.clock import FakeClock
from gputide.exporter.fields import Field
from gputide.exporter.model import Reading
from gputide.exporter.ports import DeviceError, DeviceLostError
from gputide.exporter.simulated.faults import FaultSwitch, GpuFaults
from gputide.exporter.simulated.load import ConstantLoad, DailyTide
from gputide.exporter.simulated.profiles import parse_simulation
from gputide.exporter.simulated.reader import SimulatedReader


class Scene:
    def __init__(self, text: str, load: float | None = None, seed: int = 0) -> None:
        self.clock = FakeClock()
        self.faults = FaultSwitch()
        self.waits: list[float] = []
        self.on_wait = lambda: None
        self.reader = SimulatedReader(
            parse_simulation(text),
            DailyTide(seed=seed) if load is None else ConstantLoad(load),
            self.clock,
            faults=self.faults,
            seed=seed,
            wait=self.wait,
        )

    def wait(self, seconds: float) -> None:
        self.waits.append(seconds)
        self.clock.seconds += seconds
        self.on_wait()

    def read(self, index: int = 0) -> Reading:
        return self.reader.read(self.reader.devices()[index])


def test_values_follow_from_seed_and_time_whoever_reads_when() -> None:
    rarely, often, other = Scene("h100x2"), Scene("h100x2"), Scene("h100x2", seed=1)
    for _ in range(240):
        often.clock.seconds += 15
        often.read(1)
    rarely.clock.seconds += 3600
    other.clock.seconds += 3600

    assert rarely.read(1) == often.read(1)
    assert rarely.read(1).values != other.read(1).values
    assert rarely.reader.devices() != other.reader.devices()


def test_a_constant_load_shows_as_such() -> None:
    scene = Scene("a10", load=0.4)
    values = scene.read().values

    assert values[Field.GPU_UTILIZATION_RATIO] == 0.4
    assert values[Field.COMPUTE_PROCESSES] == 1


def test_energy_grows_by_power_times_time() -> None:
    scene = Scene("l40s", load=0.7)
    before = scene.read().values
    scene.clock.seconds += 1234
    after = scene.read().values
    grown = after[Field.ENERGY_JOULES_TOTAL] - before[Field.ENERGY_JOULES_TOTAL]

    assert grown == pytest.approx(1234 * before[Field.POWER_WATTS], rel=1e-3)


def test_a_card_is_as_busy_as_its_instances_together() -> None:
    scene = Scene("h100-mig", load=1)
    reading = scene.read()

    assert reading.values[Field.PROFILING_GRAPHICS_ENGINE_ACTIVE_RATIO] == pytest.approx(1)
    assert set(reading.mig_values) == {1, 5, 9, 10}
    assert Scene("h100-mig:idle").read().processes == ()


def test_a_lost_gpu_and_a_gone_one_cannot_be_read_and_the_next_can() -> None:
    scene = Scene("t4x3")
    devices = scene.reader.devices()
    scene.faults.set(0, GpuFaults(lost=True))
    scene.faults.set(1, GpuFaults(gone=True))

    assert [each.index for each in scene.reader.devices()] == [0, 2]
    for device in devices[:2]:
        with pytest.raises(DeviceLostError, match=f"GPU {device.index}"):
            scene.reader.read(device)
    assert scene.reader.read(devices[2]).values


def test_a_device_of_another_node_is_an_error() -> None:
    with pytest.raises(DeviceError):
        Scene("t4").reader.read(Scene("t4x2").reader.devices()[1])


def test_a_slow_driver_takes_its_time() -> None:
    scene = Scene("t4")
    scene.faults.set(0, GpuFaults(slow_seconds=2.5))
    scene.read()

    assert scene.waits == [2.5]


def test_a_hanging_call_comes_back_when_the_fault_is_mended() -> None:
    scene = Scene("t4")
    scene.faults.set(0, GpuFaults(hang=True))
    scene.on_wait = lambda: scene.faults.clear(0) if len(scene.waits) == 7 else None

    assert scene.read().values
    assert len(scene.waits) == 7


def test_a_hanging_call_comes_back_when_the_reader_is_closed() -> None:
    clock, faults = FakeClock(), FaultSwitch()
    faults.set(0, GpuFaults(hang=True))
    reader = SimulatedReader(parse_simulation("t4"), ConstantLoad(0), clock, faults=faults)
    thread = threading.Thread(target=reader.read, args=(reader.devices()[0],))
    thread.start()
    reader.close()
    thread.join(10)

    assert not thread.is_alive()


def test_without_cooling_it_throttles_and_counts_the_time() -> None:
    scene = Scene("t4", load=0.6)
    cool = scene.read().values
    scene.faults.set(0, GpuFaults(thermal_throttle=True))
    scene.clock.seconds += 600
    hot = scene.read().values

    assert hot[Field.TEMPERATURE_CELSIUS] > cool[Field.TEMPERATURE_CELSIUS]
    assert hot[Field.SM_CLOCK_HERTZ] < cool[Field.SM_CLOCK_HERTZ]
    assert hot[Field.THERMAL_VIOLATION_SECONDS_TOTAL] == pytest.approx(600)


def test_an_xid_is_raised_once_for_each_change_of_the_number() -> None:
    scene = Scene("t4x2")
    uuid = scene.reader.devices()[1].uuid
    seen = []
    for xid in (31, 31, 0, 31, 79):
        scene.faults.set(1, GpuFaults(xid=xid))
        seen.append(scene.reader.next_xid(timeout_seconds=0))

    assert seen == [(uuid, 31), None, None, (uuid, 31), (uuid, 79)]
    assert scene.read(1).values[Field.XID_LAST] == 79
    assert scene.read(0).values[Field.XID_LAST] == 0


def test_waiting_for_an_xid_ends_at_the_time_out() -> None:
    scene = Scene("t4")

    assert scene.reader.next_xid(timeout_seconds=1.5) is None
    assert sum(scene.waits) == pytest.approx(1.5)
