"""One GPU under watch: its newest reading, its state, its errors."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

import structlog

from gputide.clock import Clock
from gputide.errors import GputideError
from gputide.exporter.collection.settings import CollectionSettings
from gputide.exporter.model import Device, DeviceState, DeviceStatus, Reading, XidCount
from gputide.exporter.ports import DeviceError, DeviceLostError, DeviceReader

log = structlog.stdlib.get_logger()
NOT_READ_YET = "not read yet"
NOT_ENUMERATED = "the driver no longer shows it, though it did before"


class ErrorKind(StrEnum):
    """What kind of error a collection met."""

    LOST = "lost"
    DEVICE = "device"
    DRIVER = "driver"
    DEADLINE = "deadline"
    INTERNAL = "internal"
    OWNERSHIP = "ownership"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Outcome:
    """How the newest finished reading went."""

    began_seconds: float
    """Monotonic."""

    duration_seconds: float | None = None
    reading: Reading | None = None
    state: DeviceState = DeviceState.FAILED
    problem: str = NOT_READ_YET


class Watch:
    """One GPU. One thread reads it; any thread asks for its status.

    Each attribute is replaced as a whole, so nobody waits for a lock while the driver hangs.
    """

    def __init__(self, device: Device, settings: CollectionSettings, clock: Clock) -> None:
        self._device = device
        self._settings = settings
        self._clock = clock
        self._is_present = True
        self._in_flight_since: float | None = None
        self._outcome = _Outcome(began_seconds=clock.monotonic_seconds())
        self._errors: Counter[ErrorKind] = Counter()
        self._reads = 0

    @property
    def device(self) -> Device:
        """The GPU as the driver enumerated it last."""
        return self._device

    @property
    def is_present(self) -> bool:
        """Whether the driver enumerates it."""
        return self._is_present

    @property
    def reads_total(self) -> int:
        """How many readings have ended, well or not."""
        return self._reads

    def see(self, device: Device) -> None:
        """Take it as enumerated now; its MIG instances may have changed."""
        if not self._is_present:
            log.info("GPU is back", gpu=device.index, uuid=device.uuid)
        self._device = device
        self._is_present = True

    def miss(self) -> None:
        """Take it as no longer enumerated."""
        if self._is_present:
            log.warning("GPU is gone", gpu=self._device.index, uuid=self._device.uuid)
        self._is_present = False

    def read(self, reader: DeviceReader) -> None:
        """Read it once; blocks for as long as the driver does, and raises nothing."""
        began = self._clock.monotonic_seconds()
        self._in_flight_since = began
        reading, state, problem, kind = _attempt(reader, self._device)
        duration = self._clock.monotonic_seconds() - began
        if kind is not None:
            self._errors[kind] += 1
        if duration > self._settings.deadline_seconds:
            self._errors[ErrorKind.DEADLINE] += 1
        self._report(state, problem)
        self._outcome = _Outcome(
            began_seconds=began,
            duration_seconds=duration,
            reading=reading,
            state=state,
            problem=problem,
        )
        self._in_flight_since = None
        self._reads += 1

    def errors(self) -> Mapping[ErrorKind, int]:
        """Return errors by kind; a call that hangs now is one already."""
        errors = Counter(self._errors)
        if self.is_hung():
            errors[ErrorKind.DEADLINE] += 1
        return errors

    def is_hung(self) -> bool:
        """Return whether a driver call is out for longer than the deadline."""
        since = self._in_flight_since
        now = self._clock.monotonic_seconds()
        return since is not None and now - since > self._settings.deadline_seconds

    def status(self, xids: tuple[XidCount, ...] = ()) -> DeviceStatus:
        """Return how it is doing now; its reading only where it is up and the reading is fresh."""
        outcome = self._outcome
        state, problem = self._state(outcome)
        return DeviceStatus(
            device=self._device,
            state=state,
            problem=problem,
            reading=outcome.reading if state is DeviceState.UP else None,
            read_duration_seconds=outcome.duration_seconds,
            xids=xids,
        )

    def _state(self, outcome: _Outcome) -> tuple[DeviceState, str]:
        # The texts hold no number that moves: each would be a new series.
        if not self._is_present:
            return DeviceState.LOST, NOT_ENUMERATED
        if self.is_hung():
            deadline = self._settings.deadline_seconds
            return DeviceState.HUNG, f"a driver call has not come back within {deadline:g} s"
        age = self._clock.monotonic_seconds() - outcome.began_seconds
        if outcome.state is DeviceState.UP and age > self._settings.max_age_seconds:
            limit = self._settings.max_age_seconds
            return DeviceState.FAILED, f"its newest reading is older than {limit:g} s"
        return outcome.state, outcome.problem

    def _report(self, state: DeviceState, problem: str) -> None:
        before = self._outcome
        if (state, problem) == (before.state, before.problem):
            return
        gpu = self._device.index
        if state is not DeviceState.UP:
            log.warning("GPU cannot be read", gpu=gpu, state=state.value, problem=problem)
        elif before.problem != NOT_READ_YET:
            log.info("GPU is read again", gpu=gpu)


_Attempt = tuple[Reading | None, DeviceState, str, ErrorKind | None]


def _attempt(reader: DeviceReader, device: Device) -> _Attempt:
    try:
        return reader.read(device), DeviceState.UP, "", None
    except DeviceLostError as error:
        return None, DeviceState.LOST, str(error), ErrorKind.LOST
    except DeviceError as error:
        return None, DeviceState.FAILED, str(error), ErrorKind.DEVICE
    except GputideError as error:
        return None, DeviceState.FAILED, str(error), ErrorKind.DRIVER
    except Exception as error:
        log.exception("reading a GPU met a bug", gpu=device.index)
        problem = f"internal error: {type(error).__name__}"
        return None, DeviceState.FAILED, problem, ErrorKind.INTERNAL
