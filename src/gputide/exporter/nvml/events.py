"""XID events: the driver wakes us up for each."""

import ctypes
from collections.abc import Callable, Mapping
from contextlib import suppress

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.nvml.driver import Handle, driver_error, is_driver_error, reason


class XidEvents:
    """The event set of one start of NVML. One thread waits; registering goes on beside it."""

    def __init__(self, wait: Callable[[float], object]) -> None:
        self._wait = wait
        self._set: Handle | None = None
        self._uuids: dict[int, str] = {}
        self._last: dict[str, int] = {}
        self._refusals: dict[str, str] = {}

    @property
    def refusals(self) -> Mapping[str, str]:
        """Why a GPU tells no XID events, by UUID."""
        return self._refusals

    def last(self, uuid: str) -> int:
        """Return the code of the GPU's last event, 0 before any."""
        return self._last.get(uuid, 0)

    def register(self, uuid: str, handle: Handle) -> None:
        """Ask for the events of a GPU; a refusal is kept with its reason."""
        if uuid in self._refusals or uuid in self._uuids.values():
            return
        try:
            if self._set is None:
                self._set = pynvml.nvmlEventSetCreate()
            kind = pynvml.nvmlEventTypeXidCriticalError
            pynvml.nvmlDeviceRegisterEvents(handle, kind, self._set)
        except pynvml.NVMLError as error:
            self._refusals[uuid] = reason(error)
            return
        self._uuids[_address(handle)] = uuid

    def next(self, *, timeout_seconds: float) -> tuple[str, int] | None:
        """Wait for an event; return (uuid, code), or None at the time-out or for another event.

        Raise DriverError where the driver is gone.
        """
        if self._set is None:
            self._wait(timeout_seconds)
            return None
        try:
            event = pynvml.nvmlEventSetWait(self._set, int(timeout_seconds * 1000))
        except pynvml.NVMLError_Timeout:
            return None
        except pynvml.NVMLError as error:
            if is_driver_error(error):
                raise driver_error(error) from error
            self._wait(timeout_seconds)  # a lost GPU answers at once, again and again
            return None
        uuid = self._uuids.get(_address(event.device))
        if uuid is None or not event.eventType & pynvml.nvmlEventTypeXidCriticalError:
            return None
        self._last[uuid] = int(event.eventData)
        return uuid, int(event.eventData)

    def close(self) -> None:
        """Give the event set back."""
        if self._set is not None:
            with suppress(pynvml.NVMLError):  # the driver may have gone first
                pynvml.nvmlEventSetFree(self._set)
        self._set = None


def _address(handle: Handle) -> int:
    return ctypes.cast(handle, ctypes.c_void_p).value or 0
