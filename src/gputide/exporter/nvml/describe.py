"""What a GPU is: its identity and its texts."""

from collections.abc import Callable

import pynvml  # type: ignore[import-untyped]  # NVIDIA ships no types

from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import Device
from gputide.exporter.nvml import mig
from gputide.exporter.nvml.driver import Handle
from gputide.exporter.nvml.probes import memory

_BRANDS = (
    *("Unknown", "Quadro", "Tesla", "NVS", "Grid", "GeForce", "Titan"),
    *("NvidiaVApps", "NvidiaVPC", "NvidiaVCS", "NvidiaVWS", "NvidiaCloudGaming"),
    *("QuadroRTX", "NvidiaRTX", "Nvidia", "GeForceRTX", "TitanRTX"),
)
"""By number, as DCGM prints them."""


def driver_facts() -> dict[Fact, str]:
    """Return what the driver tells of itself; what it does not tell is left out."""
    return _told(
        {
            Fact.DRIVER_VERSION: pynvml.nvmlSystemGetDriverVersion,
            Fact.NVML_VERSION: pynvml.nvmlSystemGetNVMLVersion,
            Fact.CUDA_VERSION: lambda: _cuda(pynvml.nvmlSystemGetCudaDriverVersion_v2()),
        }
    )


def describe(index: int, handle: Handle, facts: dict[Fact, str]) -> Device:
    """Return a GPU as the driver enumerates it; raise NVMLError where it cannot be identified."""
    is_mig_enabled = mig.is_enabled(handle)
    total = int(str(_try(lambda: int(memory(handle)[Field.MEMORY_TOTAL_BYTES])) or 0))
    return Device(
        index=index,
        uuid=str(pynvml.nvmlDeviceGetUUID(handle)),
        pci_bus_id=str(_try(lambda: _text(pynvml.nvmlDeviceGetPciInfo(handle).busId)) or ""),
        minor_number=_minor_number(handle, index),
        model_name=str(_try(lambda: pynvml.nvmlDeviceGetName(handle)) or "unknown"),
        memory_bytes=total,
        is_mig_enabled=is_mig_enabled,
        mig_instances=mig.instances(handle, total) if is_mig_enabled else (),
        facts=facts,
    )


def device_facts(handle: Handle) -> dict[Fact, str]:
    """Return the texts of one GPU; what it does not tell is left out."""
    return _told(
        {
            Fact.BRAND: lambda: _brand(pynvml.nvmlDeviceGetBrand(handle)),
            Fact.SERIAL: lambda: pynvml.nvmlDeviceGetSerial(handle),
            Fact.VBIOS_VERSION: lambda: pynvml.nvmlDeviceGetVbiosVersion(handle),
            Fact.INFOROM_IMAGE_VERSION: lambda: pynvml.nvmlDeviceGetInforomImageVersion(handle),
            Fact.OEM_INFOROM_VERSION: lambda: _inforom(handle, pynvml.NVML_INFOROM_OEM),
            Fact.ECC_INFOROM_VERSION: lambda: _inforom(handle, pynvml.NVML_INFOROM_ECC),
            Fact.POWER_INFOROM_VERSION: lambda: _inforom(handle, pynvml.NVML_INFOROM_POWER),
        }
    )


def _told(asked: dict[Fact, Callable[[], object]]) -> dict[Fact, str]:
    answers = {fact: _try(ask) for fact, ask in asked.items()}
    return {fact: str(answer) for fact, answer in answers.items() if answer is not None}


def _try(ask: Callable[[], object]) -> object:
    """Return the answer, None where there is none; only a lost GPU is worth an error here."""
    try:
        return ask()
    except pynvml.NVMLError_GpuIsLost:
        raise
    except (pynvml.NVMLError, UnicodeDecodeError):
        return None


def _minor_number(handle: Handle, index: int) -> int:
    try:
        return int(pynvml.nvmlDeviceGetMinorNumber(handle))
    except (pynvml.NVMLError_NotSupported, pynvml.NVMLError_FunctionNotFound):
        return index  # under WSL there is no /dev/nvidiaN


def _inforom(handle: Handle, part: int) -> object:
    return pynvml.nvmlDeviceGetInforomVersion(handle, part)


def _brand(number: int) -> str:
    return _BRANDS[number] if number < len(_BRANDS) else str(number)


def _cuda(number: int) -> str:
    """Return 12080 as 12.8."""
    return f"{number // 1000}.{number % 1000 // 10}"


def _text(value: bytes | str) -> str:
    return value.decode(errors="replace") if isinstance(value, bytes) else value
