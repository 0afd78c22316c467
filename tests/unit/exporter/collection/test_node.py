from dataclasses import replace

import pytest

from fakes.clock import FakeClock
from fakes.device_reader import FakeReader
from fakes.gpu_nodes import gpu
from gputide.exporter.collection.node import NO_DEVICE, NodeWatch
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind
from gputide.exporter.collection.xids import MAX_GPUS
from gputide.exporter.model import DeviceState, MigInstance, XidCount
from gputide.exporter.ports import DriverError

GPUS = [gpu("Tesla T4", index=index) for index in range(3)]


class Scene:
    def __init__(self) -> None:
        self.clock = FakeClock()
        self.reader = FakeReader(GPUS, self.clock.now_seconds)
        self.node = NodeWatch(self.reader, CollectionSettings(), self.clock)

    def look(self) -> dict[int, DeviceState]:
        self.node.enumerate_once()
        for watch in self.node.watches:
            watch.read(self.reader)
        return {status.device.index: status.state for status in self.node.statuses()}


def test_a_gpu_that_vanishes_stays_in_the_list_as_lost() -> None:
    scene = Scene()
    scene.look()
    scene.reader.present = GPUS[:2]

    assert scene.look() == {0: DeviceState.UP, 1: DeviceState.UP, 2: DeviceState.LOST}


def test_a_gpu_with_another_in_its_slot_is_no_longer_expected() -> None:
    scene = Scene()
    scene.look()
    scene.reader.present = [*GPUS[:2], replace(GPUS[2], uuid="GPU-new")]

    assert scene.look() == dict.fromkeys(range(3), DeviceState.UP)
    assert scene.node.watches[2].device.uuid == "GPU-new"


def test_a_gpu_that_could_not_be_identified_is_forgotten_once_it_is() -> None:
    scene = Scene()
    scene.reader.present = [*GPUS[:2], replace(GPUS[2], uuid="unknown-2", pci_bus_id="")]
    scene.look()
    scene.reader.present = GPUS

    assert [each.device.uuid for each in scene.node.watches][2] == "unknown-2"
    assert scene.look() == dict.fromkeys(range(3), DeviceState.UP)


def test_indices_that_move_up_after_a_loss_replace_nobody() -> None:
    scene = Scene()
    scene.look()
    scene.reader.present = [replace(each, index=each.index - 1) for each in GPUS[1:]]
    scene.look()

    states = {each.device.uuid: each.state for each in scene.node.statuses()}
    assert states[GPUS[0].uuid] is DeviceState.LOST
    assert len(states) == 3


def test_a_gpu_that_is_plugged_in_is_found() -> None:
    scene = Scene()
    scene.reader.present = GPUS[:1]
    scene.look()
    scene.reader.present = [GPUS[2], GPUS[0]]

    assert list(scene.look()) == [0, 2]


def test_mig_instances_made_meanwhile_are_seen() -> None:
    scene = Scene()
    scene.look()
    instance = MigInstance(gpu_instance_id=7, uuid="MIG-7", profile="1g.5gb", memory_bytes=1)
    scene.reader.present[0] = replace(GPUS[0], is_mig_enabled=True, mig_instances=(instance,))
    scene.look()

    assert scene.node.watches[0].device.mig_instances == (instance,)


def test_no_driver_is_a_problem_until_there_is_one() -> None:
    scene = Scene()
    scene.reader.enumeration_error = DriverError("no driver: install one")
    scene.look()
    assert scene.node.problem() == "no driver: install one"
    assert scene.node.errors() == {ErrorKind.DRIVER: 1}

    scene.reader.enumeration_error = None
    scene.look()

    assert scene.node.problem() == ""


def test_no_gpu_is_a_problem_in_words_not_an_error() -> None:
    scene = Scene()
    scene.reader.present = []
    scene.look()

    assert scene.node.problem() == NO_DEVICE
    assert scene.node.errors() == {}


def test_a_driver_that_refuses_to_enumerate_takes_no_known_gpu_away() -> None:
    scene = Scene()
    scene.look()
    scene.reader.enumeration_error = DriverError("busy")

    assert set(scene.look().values()) == {DeviceState.UP}
    assert scene.node.problem() == ""


def test_xid_events_are_counted_on_their_gpu() -> None:
    scene = Scene()
    scene.look()
    scene.reader.xids.extend([(GPUS[1].uuid, 79), (GPUS[1].uuid, 79), ("GPU-unknown", 31)])
    while scene.node.take_xid(timeout_seconds=0):
        pass

    xids = [status.xids for status in scene.node.statuses()]
    assert xids == [
        (),
        (XidCount(xid=79, count=2, last_seen_seconds=scene.clock.seconds),),
        (),
    ]


def test_a_driver_without_events_says_so() -> None:
    scene = Scene()
    scene.reader.xid_error = DriverError("no events")

    with pytest.raises(DriverError):
        scene.node.take_xid(timeout_seconds=0)


def test_gpus_are_kept_up_to_a_bound() -> None:
    scene = Scene()
    for start in (0, 200, 400):
        scene.reader.present = [gpu("Tesla T4", index=start + index) for index in range(200)]
        scene.node.enumerate_once()

    assert len(scene.node.watches) == MAX_GPUS
