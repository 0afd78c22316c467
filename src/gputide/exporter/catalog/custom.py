"""DCGM_CUSTOM_*: the metrics that Alibaba Cloud's GPU monitoring 2.0 adds to DCGM's.

Labels beside these: POD_LABELS where a container is known, NODE_LABELS on every one of them.
"""

from gputide.exporter.catalog.rows import MEBIBYTES, PERCENT, RATIO, MetricRow, ProcessRow, Unit
from gputide.exposition import Kind

NODE_LABELS = ("NodeName", "NodePoolId", "PodSource")
DEVICE_LABELS = ("DriverVersion", *NODE_LABELS, "SupportDCGM", "UUID", "device", "gpu", "modelName")
CONTAINER_LABELS = (
    "AllocateMode",
    "ContainerName",
    "NamespaceName",
    "NodeName",
    "NodePoolId",
    "PodName",
    "PodSource",
    "UUID",
    "device",
    "gpu",
    "modelName",
)
PROCESS_LABELS = (
    *CONTAINER_LABELS[:7],
    "ProcessId",
    "ProcessName",
    "ProcessType",
    *CONTAINER_LABELS[7:],
)

# fmt: off
PROCESSES: tuple[ProcessRow, ...] = (
    ProcessRow("DCGM_CUSTOM_PROCESS_SM_UTIL", "DCGM_CUSTOM_ILLEGAL_PROCESS_SM_UTIL", PERCENT, lambda p: p.sm_ratio, "SM utilization of the process (in %)."),
    ProcessRow("DCGM_CUSTOM_PROCESS_MEM_COPY_UTIL", "DCGM_CUSTOM_ILLEGAL_PROCESS_MEM_COPY_UTIL", PERCENT, lambda p: p.memory_copy_ratio, "Memory copy utilization of the process (in %)."),
    ProcessRow("DCGM_CUSTOM_PROCESS_ENCODE_UTIL", "DCGM_CUSTOM_ILLEGAL_PROCESS_ENCODE_UTIL", PERCENT, lambda p: p.encoder_ratio, "Encoder utilization of the process (in %)."),
    ProcessRow("DCGM_CUSTOM_PROCESS_DECODE_UTIL", "DCGM_CUSTOM_ILLEGAL_PROCESS_DECODE_UTIL", PERCENT, lambda p: p.decoder_ratio, "Decoder utilization of the process (in %)."),
    ProcessRow("DCGM_CUSTOM_PROCESS_MEM_USED", "DCGM_CUSTOM_ILLEGAL_PROCESS_MEM_USED", MEBIBYTES, lambda p: p.memory_bytes, "GPU memory used by the process (in MiB)."),
)

CONTAINER_MEMORY_ALLOCATED = MetricRow("DCGM_CUSTOM_CONTAINER_MEM_ALLOCATED", Kind.GAUGE, CONTAINER_LABELS, "GPU memory allocated to the container (in MiB).")
CONTAINER_COMPUTE_ALLOCATED = MetricRow("DCGM_CUSTOM_CONTAINER_CP_ALLOCATED", Kind.GAUGE, CONTAINER_LABELS, "Share of the GPU's compute allocated to the container (0 to 1; 0 is no limit).")
DEVICE_MEMORY_TOTAL = MetricRow("DCGM_CUSTOM_DEV_FB_TOTAL", Kind.GAUGE, DEVICE_LABELS, "Framebuffer memory of the GPU (in MiB).")
DEVICE_MEMORY_ALLOCATED = MetricRow("DCGM_CUSTOM_DEV_FB_ALLOCATED", Kind.GAUGE, DEVICE_LABELS, "Share of the GPU's memory that is allocated (0 to 1).")
ALLOCATE_MODE = MetricRow("DCGM_CUSTOM_ALLOCATE_MODE", Kind.GAUGE, NODE_LABELS, "How the node allocates its GPUs: 0 none, 1 exclusive, 2 share.")
# fmt: on

UNITS: dict[str, Unit] = {
    CONTAINER_MEMORY_ALLOCATED.name: MEBIBYTES,
    CONTAINER_COMPUTE_ALLOCATED.name: RATIO,
    DEVICE_MEMORY_TOTAL.name: MEBIBYTES,
    DEVICE_MEMORY_ALLOCATED.name: RATIO,
}
ROWS = (
    CONTAINER_MEMORY_ALLOCATED,
    CONTAINER_COMPUTE_ALLOCATED,
    DEVICE_MEMORY_TOTAL,
    DEVICE_MEMORY_ALLOCATED,
    ALLOCATE_MODE,
)
