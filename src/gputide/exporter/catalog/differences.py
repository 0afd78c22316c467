"""Where our page differs from recorded pages of dcgm-exporter, and why."""

from dataclasses import dataclass

T4, T4X2 = "dcgm-t4", "dcgm-t4x2-fraction"
A100, MIG1, MIG4 = "dcgm-a100-no-mig", "dcgm-a100-mig-1g5gb-active", "dcgm-a100-mig-4-workloads"
A800, H100 = "dcgm-a800x8-mixed-mig", "dcgm-h100-excerpt"
PAGES = (T4, T4X2, A100, MIG1, MIG4, A800, H100)

_RESERVED = "younger than the recorded release"
_NO_GPM = (
    "before Hopper DCGM takes it from a library of its own, which NVML does not reach; "
    "gputide_exporter_unsupported_info says so"
)


@dataclass(frozen=True, slots=True)
class Difference:
    """Something that stands on one of the two pages only, or differently."""

    what: str
    """As the comparison words it: `family NAME only there`, `label NAME only here`, ..."""

    pages: tuple[str, ...]
    why: str
    is_switchable: bool
    """Whether a counters file or an option makes our page like the recorded one."""


# fmt: off
DIFFERENCES: tuple[Difference, ...] = (
    Difference("label pci_bus_id only here", (T4, T4X2, A100, MIG1, MIG4, A800), "younger than these releases; it can be switched off", is_switchable=True),
    Difference("labels container, namespace, pod on fewer series here", (T4X2,), "these releases print them empty on idle GPUs, newer ones leave them out; it can be switched on", is_switchable=True),
    Difference("labels container, namespace, pod only there", (A100, MIG1, MIG4), "these releases print them empty on idle GPUs, newer ones leave them out; it can be switched on", is_switchable=True),
    Difference("labels GPU_I_PROFILE, GPU_I_ID only there", (MIG1, MIG4, A800), "in MIG mode values of the card stand once, without an instance, so that sums are right; DCGM's repetition can be switched on", is_switchable=True),
    Difference("label DCGM_FI_PROCESS_NAME only there", (T4, A800), "it names the exporter's own process, and nothing of the GPU", is_switchable=False),
    Difference("family DCGM_FI_DEV_COUNT only there", (T4,), "no longer in dcgm-exporter's default list; a counters file selects it", is_switchable=True),
    Difference("family DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL only there", (T4, T4X2), "a T4 has no NVLink, and NVML says so; DCGM prints 0", is_switchable=False),
    *(
        Difference(f"family DCGM_FI_PROF_{name} only there", (T4X2, A100, MIG1, MIG4), _NO_GPM, is_switchable=False)
        for name in ("GR_ENGINE_ACTIVE", "PIPE_TENSOR_ACTIVE", "DRAM_ACTIVE")
    ),
    *(
        Difference(f"family DCGM_FI_PROF_{name} only there", (T4X2, A100), _NO_GPM, is_switchable=False)
        for name in ("PCIE_TX_BYTES", "PCIE_RX_BYTES")
    ),
    Difference("family DCGM_FI_DEV_FB_RESERVED only here", (T4, T4X2, A100, MIG1, MIG4), _RESERVED, is_switchable=True),
    Difference("family DCGM_FI_DEV_VGPU_LICENSE_STATUS only here", (T4X2, A100, MIG1, MIG4), "in the default list, and NVML tells it; DCGM had no value on these hosts", is_switchable=True),
    *(
        Difference(f"family DCGM_FI_DEV_{name} only here", (MIG1, MIG4), "NVML tells it for the card in MIG mode too, and a failed remapping is not to be hidden", is_switchable=True)
        for name in ("UNCORRECTABLE_REMAPPED_ROWS", "CORRECTABLE_REMAPPED_ROWS", "ROW_REMAP_FAILURE")
    ),
)
# fmt: on
