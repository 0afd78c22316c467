"""All GPUs of the node under watch: who was seen, who is there, and their XID events."""

from collections import Counter
from collections.abc import Iterable, Mapping

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.collection.watch import ErrorKind, Watch
from gputide.exporter.collection.xids import MAX_GPUS, XidLedger
from gputide.exporter.model import Device, DeviceStatus
from gputide.exporter.ports import DeviceReader

log = structlog.stdlib.get_logger()
NO_DEVICE = "the driver shows no GPU"
NOT_ENUMERATED_YET = "the driver has not yet told which GPUs there are"


class NodeWatch:
    """The GPUs that this process has seen and that no other GPU has replaced.

    One thread enumerates, one waits for XID events, any thread looks.
    """

    def __init__(self, reader: DeviceReader, settings: CollectionSettings, clock: Clock) -> None:
        self._reader = reader
        self._settings = settings
        self._clock = clock
        self._watches: Mapping[str, Watch] = {}
        self._xids = XidLedger()
        self._errors: Counter[ErrorKind] = Counter()
        self._problem = NOT_ENUMERATED_YET
        self._enumerating_since: float | None = None
        self._enumerations = 0

    @property
    def watches(self) -> tuple[Watch, ...]:
        """Every GPU seen, by index; those that are gone as well."""
        return tuple(self._watches.values())

    @property
    def enumerations_total(self) -> int:
        """How often the driver was asked for its GPUs, and answered."""
        return self._enumerations

    def enumerate_once(self) -> None:
        """Ask the driver which GPUs there are; blocks as it does, and raises nothing of ours."""
        self._enumerating_since = self._clock.monotonic_seconds()
        try:
            devices = self._reader.devices()
        except GputideError as error:
            # The GPUs known so far keep their states: each reading tells by itself.
            self._errors[ErrorKind.DRIVER] += 1
            self._set_problem(str(error))
            return
        finally:
            self._enumerating_since = None
            self._enumerations += 1
        watches = dict(self._watches)
        for device in devices[:MAX_GPUS]:
            known = watches.get(device.uuid)
            if known is not None:
                known.see(device)
            elif len(watches) < MAX_GPUS:
                watches[device.uuid] = Watch(device, self._settings, self._clock)
        for uuid in watches.keys() - {device.uuid for device in devices}:
            watches[uuid].miss()
            if _is_replaced(watches[uuid].device, devices):
                del watches[uuid]
        by_index = sorted(watches.items(), key=lambda each: (each[1].device.index, each[0]))
        self._watches = dict(by_index)
        self._set_problem("" if devices else NO_DEVICE)

    def take_xid(self, *, timeout_seconds: float) -> bool:
        """Wait for an XID event and count it; return whether there was one.

        Raise DriverError where the driver has no events.
        """
        event = self._reader.next_xid(timeout_seconds=timeout_seconds)
        if event is None:
            return False
        uuid, xid = event
        if self._xids.add(uuid, xid, now_seconds=self._clock.now_seconds()):
            watch = self._watches.get(uuid)
            log.warning("XID", xid=xid, uuid=uuid, gpu=watch.device.index if watch else None)
        return True

    def statuses(self) -> tuple[DeviceStatus, ...]:
        """Return how each GPU is doing now."""
        return tuple(watch.status(self._xids.of(uuid)) for uuid, watch in self._watches.items())

    def problem(self) -> str:
        """Return why no GPU is seen, empty where one is or was."""
        if self._watches:
            return ""
        if self.is_enumeration_hung():
            deadline = self._settings.deadline_seconds
            return f"the driver has not told its GPUs within {deadline:g} s"
        return self._problem

    def is_enumeration_hung(self) -> bool:
        """Return whether the driver owes an answer for longer than the deadline."""
        since = self._enumerating_since
        now = self._clock.monotonic_seconds()
        return since is not None and now - since > self._settings.deadline_seconds

    def errors(self) -> Mapping[ErrorKind, int]:
        """Return the errors since the start, by kind."""
        errors = Counter(self._errors)
        for watch in self._watches.values():
            errors.update(watch.errors())
        if self.is_enumeration_hung():
            errors[ErrorKind.DEADLINE] += 1
        return errors

    def _set_problem(self, problem: str) -> None:
        if problem and problem != self._problem:
            log.warning("no GPUs to read", problem=problem)
        self._problem = problem


def _is_replaced(gone: Device, present: Iterable[Device]) -> bool:
    """Return whether another GPU is in its slot now: then nobody expects it back."""
    if not gone.pci_bus_id:  # it could not even be identified
        return any(device.index == gone.index for device in present)
    return any(device.pci_bus_id == gone.pci_bus_id for device in present)
