import pytest

from fakes.clock import FakeClock
from fakes.device_reader import FakeReader
from fakes.gpu_nodes import gpu
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind, Watch
from gputide.exporter.fields import Field
from gputide.exporter.model import DeviceState
from gputide.exporter.ports import DeviceError, DeviceLostError, DriverError

DEVICE = gpu("Tesla T4")
SETTINGS = CollectionSettings(deadline_seconds=10, max_age_seconds=60)


class Scene:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.reader = FakeReader([DEVICE], self.clock.now_seconds)
        self.watch = Watch(DEVICE, SETTINGS, self.clock)

    def fail(self, error: Exception) -> None:
        self.reader.errors[DEVICE.uuid] = error

    def state_and_problem(self) -> tuple[DeviceState, str]:
        status = self.watch.status()
        return status.state, status.problem


def test_before_its_first_reading_a_gpu_is_not_up() -> None:
    assert Scene().state_and_problem() == (DeviceState.FAILED, "not read yet")


def test_a_reading_is_served_with_its_duration() -> None:
    scene = Scene()
    scene.reader.during_read = lambda: setattr(scene.clock, "seconds", scene.clock.seconds + 2)
    scene.watch.read(scene.reader)
    status = scene.watch.status()

    assert status.state is DeviceState.UP
    assert status.reading is not None
    assert status.reading.values == {Field.POWER_WATTS: 1}
    assert status.read_duration_seconds == 2


@pytest.mark.parametrize(
    ("error", "state", "kind"),
    [
        (DeviceLostError("off the bus"), DeviceState.LOST, ErrorKind.LOST),
        (DeviceError("needs a reset"), DeviceState.FAILED, ErrorKind.DEVICE),
        (DriverError("module not loaded"), DeviceState.FAILED, ErrorKind.DRIVER),
        (ZeroDivisionError(), DeviceState.FAILED, ErrorKind.INTERNAL),
    ],
)
def test_an_error_is_a_state_with_the_reason_and_no_reading(
    error: Exception, state: DeviceState, kind: ErrorKind
) -> None:
    scene = Scene()
    scene.watch.read(scene.reader)
    scene.fail(error)
    scene.watch.read(scene.reader)
    status = scene.watch.status()

    assert status.state is state
    assert status.problem == (str(error) or "internal error: ZeroDivisionError")
    assert status.reading is None
    assert scene.watch.errors() == {kind: 1}


def test_a_gpu_that_answers_again_is_up_again() -> None:
    scene = Scene()
    scene.fail(DeviceLostError("off the bus"))
    scene.watch.read(scene.reader)
    scene.reader.errors.clear()
    scene.watch.read(scene.reader)

    assert scene.state_and_problem() == (DeviceState.UP, "")


def test_a_call_is_hung_past_its_deadline_and_while_it_is_out() -> None:
    scene = Scene()
    scene.watch.read(scene.reader)
    seen = []

    def wait() -> None:
        for seconds in (10, 1, 20):
            scene.clock.seconds += seconds
            seen.append(scene.watch.status())

    scene.reader.during_read = wait
    scene.watch.read(scene.reader)

    assert [each.state for each in seen] == [DeviceState.UP, DeviceState.HUNG, DeviceState.HUNG]
    assert seen[1].reading is None
    assert seen[1].problem == seen[2].problem == "a driver call has not come back within 10 s"
    assert scene.state_and_problem() == (DeviceState.UP, "")
    assert scene.watch.errors() == {ErrorKind.DEADLINE: 1}


def test_a_call_that_hangs_now_counts_as_one_error() -> None:
    scene = Scene()
    counts = []

    def wait() -> None:
        scene.clock.seconds += 30
        counts.extend([scene.watch.errors(), scene.watch.errors()])

    scene.reader.during_read = wait
    scene.watch.read(scene.reader)

    assert [*counts, scene.watch.errors()] == [{ErrorKind.DEADLINE: 1}] * 3


def test_a_reading_that_is_too_old_is_not_served() -> None:
    scene = Scene()
    scene.watch.read(scene.reader)
    scene.clock.seconds += 60
    assert scene.watch.status().reading is not None

    scene.clock.seconds += 1

    assert scene.watch.status().reading is None
    assert scene.state_and_problem() == (
        DeviceState.FAILED,
        "its newest reading is older than 60 s",
    )


def test_a_late_answer_is_as_old_as_its_question() -> None:
    scene = Scene()
    scene.reader.during_read = lambda: setattr(scene.clock, "seconds", scene.clock.seconds + 70)
    scene.watch.read(scene.reader)

    assert scene.watch.status().state is DeviceState.FAILED


def test_a_gpu_that_is_no_longer_enumerated_is_lost_until_it_is_seen_again() -> None:
    scene = Scene()
    scene.watch.read(scene.reader)
    scene.watch.miss()
    assert scene.watch.status().state is DeviceState.LOST
    assert scene.watch.status().reading is None

    scene.watch.see(DEVICE)

    assert scene.watch.status().state is DeviceState.UP
