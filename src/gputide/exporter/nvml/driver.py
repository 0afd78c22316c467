"""NVML as a whole: starting it, and its errors in our words."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.ports import DeviceError, DeviceLostError, DriverError
from gputide.exporter.reasons import NOT_SUPPORTED

Handle = Any
"""An opaque pointer of the driver's."""

_PATIENCE_SECONDS = 3.0

_MENDING = {
    pynvml.NVML_ERROR_LIBRARY_NOT_FOUND: (
        "libnvidia-ml.so.1 is not here: install the NVIDIA driver, or in a container let the NVIDIA"
        " runtime mount it (NVIDIA_DRIVER_CAPABILITIES=utility)"
    ),
    pynvml.NVML_ERROR_DRIVER_NOT_LOADED: (
        "the NVIDIA kernel module is not loaded: modprobe nvidia, or give this container the GPUs"
    ),
    pynvml.NVML_ERROR_NO_PERMISSION: (
        "no permission to talk to the driver: /dev/nvidiactl must be readable and writable here"
    ),
    pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH: (
        "the driver's library and kernel module differ, as after an update: reload the module or"
        " reboot"
    ),
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: (
        "libnvidia-ml.so.1 is too old or no NVIDIA library: install a driver of 2017 or newer"
    ),
}
_DRIVER_ERRORS = frozenset(
    {
        pynvml.NVML_ERROR_UNINITIALIZED,
        pynvml.NVML_ERROR_DRIVER_NOT_LOADED,
        pynvml.NVML_ERROR_LIB_RM_VERSION_MISMATCH,
        pynvml.NVML_ERROR_LIBRARY_NOT_FOUND,
    }
)
_REASONS = {
    pynvml.NVML_ERROR_NOT_SUPPORTED: NOT_SUPPORTED,
    pynvml.NVML_ERROR_FUNCTION_NOT_FOUND: "this driver does not have the call; a newer one may",
    pynvml.NVML_ERROR_ARGUMENT_VERSION_MISMATCH: (
        "this driver does not have the call in this form; a newer one may"
    ),
    pynvml.NVML_ERROR_INVALID_ARGUMENT: "this driver does not know it; a newer one may",
    pynvml.NVML_ERROR_NO_PERMISSION: "needs more permission: root, or CAP_SYS_ADMIN",
    pynvml.NVML_ERROR_DEPRECATED: "this driver no longer gives it",
}


def start() -> None:
    """Load and start NVML; raise DriverError with what would mend it."""
    try:
        pynvml.nvmlInit()
    except pynvml.NVMLError as error:
        raise driver_error(error) from error


def stop() -> None:
    """Let go of NVML; where the driver is gone already there is nothing to let go of."""
    try:
        pynvml.nvmlShutdown()
    except pynvml.NVMLError:
        return


def driver_error(error: pynvml.NVMLError) -> DriverError:
    """Return an error of the driver as a whole, with what would mend it."""
    return DriverError(_MENDING.get(error.value, f"the NVIDIA driver answers: {error}"))


def is_driver_error(error: pynvml.NVMLError) -> bool:
    """Return whether the driver as a whole is concerned, and must be started anew."""
    return error.value in _DRIVER_ERRORS


def is_lasting(error: pynvml.NVMLError) -> bool:
    """Return whether asking again is of no use for a while."""
    return error.value in _REASONS


def reason(error: pynvml.NVMLError) -> str:
    """Return why the driver does not give something."""
    return _REASONS.get(error.value, f"the driver answers: {error}")


def raise_if_fatal(error: pynvml.NVMLError, gpu: str) -> None:
    """Raise where the whole GPU, or the whole driver, is concerned."""
    if error.value == pynvml.NVML_ERROR_GPU_IS_LOST:
        raise DeviceLostError(f"{gpu}: off the bus (GPU is lost); reset or reboot") from error
    if error.value == pynvml.NVML_ERROR_RESET_REQUIRED:
        raise DeviceError(f"{gpu}: the driver asks for a reset of it") from error
    if is_driver_error(error):
        raise driver_error(error) from error


class Session:
    """NVML, started on demand, and anew after an error of the driver as a whole."""

    def __init__(self) -> None:
        self._is_started = False
        self._lock = threading.Lock()
        self._users = 0
        self._idle = threading.Condition()
        self.generation = 0
        """Grows with each start; handles of an earlier one are void."""

    def ensure(self) -> int:
        """Start NVML if need be; return the generation, or raise DriverError."""
        with self._lock:
            if not self._is_started:
                start()
                self._is_started = True
                self.generation += 1
            return self.generation

    @contextmanager
    def using(self) -> Iterator[None]:
        """Keep NVML from being shut down meanwhile: that would crash a call that is out."""
        with self._idle:
            self._users += 1
        try:
            yield
        finally:
            with self._idle:
                self._users -= 1
                self._idle.notify_all()

    def close(self) -> None:
        """Let go of NVML once nobody uses it; the next `ensure` starts it anew.

        Where a call hangs, NVML is left as it is, started once more than it is shut down.
        """
        with self._lock:
            if not self._is_started:
                return
            self._is_started = False
            with self._idle:
                if self._idle.wait_for(lambda: self._users == 0, timeout=_PATIENCE_SECONDS):
                    stop()
