"""Faults of simulated GPUs, switched on and off while they run."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Protocol

import msgspec
import structlog

from gputide.errors import InputError

log = structlog.stdlib.get_logger()
EVERY_GPU = "*"


class GpuFaults(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What is wrong with one GPU now; as JSON, the fields' names are the keys."""

    lost: bool = False
    """Off the bus: every call says so."""

    gone: bool = False
    """No longer enumerated."""

    hang: bool = False
    """Calls do not come back until this is switched off."""

    slow_seconds: Annotated[float, msgspec.Meta(ge=0, le=3600)] = 0
    """How much longer a reading takes."""

    thermal_throttle: bool = False
    """Cooling has failed: it heats up and slows itself down."""

    xid: Annotated[int, msgspec.Meta(ge=0)] = 0
    """An XID event of this code is raised once, when the number changes."""

    ecc_single_bit: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Corrected memory errors so far."""

    ecc_double_bit: Annotated[int, msgspec.Meta(ge=0)] = 0
    """Uncorrected memory errors so far; rows are remapped for them."""


NO_FAULTS = GpuFaults()


class Faults(Protocol):
    """Tells what is wrong with a GPU at the moment."""

    def of(self, device_index: int) -> GpuFaults:
        """Return its faults; may be called from several threads."""


class FaultSwitch:
    """Faults that a program switches."""

    def __init__(self) -> None:
        self._by_index: Mapping[int, GpuFaults] = {}

    def of(self, device_index: int) -> GpuFaults:
        """Return the GPU's faults."""
        return self._by_index.get(device_index, NO_FAULTS)

    def set(self, device_index: int, faults: GpuFaults) -> None:
        """Give a GPU these faults and no others."""
        # Replaced as a whole, so that readers in other threads need no lock.
        self._by_index = {**self._by_index, device_index: faults}

    def clear(self, device_index: int) -> None:
        """Mend a GPU."""
        self.set(device_index, NO_FAULTS)


@dataclass(frozen=True, slots=True)
class _Stamp:
    """By what a file's change is seen."""

    mtime_ns: int = 0
    size: int = 0


class FaultFile:
    """Faults from a JSON file that is read again when it changes.

    `{"3": {"lost": true}, "*": {"slow_seconds": 2}}`: by GPU index, `*` for those not named. A
    missing file is no fault. One that cannot be understood raises InputError at the start; later
    the faults before stay, and the log says why.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._stamp = _Stamp()
        self._by_index: Mapping[str, GpuFaults] = {}
        self._refresh()

    def of(self, device_index: int) -> GpuFaults:
        """Return the GPU's faults as the file says now."""
        try:
            self._refresh()
        except InputError as error:
            log.warning("faults not changed", error=str(error))
        faults = self._by_index
        return faults.get(str(device_index), faults.get(EVERY_GPU, NO_FAULTS))

    def _refresh(self) -> None:
        stamp = self._look()
        if stamp == self._stamp:
            return
        self._stamp = stamp  # before reading: a bad file is reported once
        try:
            content = self._path.read_bytes() if stamp.size else b"{}"
        except OSError as error:
            raise InputError(str(self._path), f"cannot be read: {error.strerror}") from error
        self._by_index = parse_faults(content, source=str(self._path))

    def _look(self) -> _Stamp:
        try:
            found = self._path.stat()
        except FileNotFoundError:
            return _Stamp()
        return _Stamp(found.st_mtime_ns, found.st_size)


def parse_faults(content: bytes, *, source: str) -> Mapping[str, GpuFaults]:
    """Return the faults by GPU index as text, or `*`; raise InputError with what is wrong."""
    try:
        faults = msgspec.json.decode(content, type=dict[str, GpuFaults])
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise InputError(source, f"not faults by GPU: {error}") from error
    wrong = [key for key in faults if key != EVERY_GPU and not key.isdecimal()]
    if wrong:
        raise InputError(source, f"{wrong[0]!r} is neither a GPU's index nor '*'")
    return faults
