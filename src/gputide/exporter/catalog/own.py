"""Metrics that have no DCGM field: events of a GPU, and how the exporter itself is doing."""

from gputide.exporter.catalog.rows import MetricRow
from gputide.exposition import Kind

GAUGE, COUNTER, INFO = Kind.GAUGE, Kind.COUNTER, Kind.INFO
DEVICE = ("gpu", "UUID", "device")

# fmt: off
# dcgm-exporter's, with its labels after those of the GPU. Those in a sliding window are gauges,
# whatever its counters file calls them; the totals count from the exporter's start.
XIDS_IN_WINDOW = MetricRow("DCGM_EXP_XID_ERRORS_COUNT", GAUGE, ("window_size_in_ms", "xid"), "Count of XID Errors within the user-specified time window (see xid-count-window-size param).")
CLOCK_EVENTS_IN_WINDOW = MetricRow("DCGM_EXP_CLOCK_EVENTS_COUNT", GAUGE, ("clock_event", "window_size_in_ms"), "Count of clock events within the user-specified time window (see clock-events-count-window-size param).")
XIDS_SINCE_START = MetricRow("DCGM_EXP_XID_ERRORS_TOTAL", COUNTER, ("xid",), "Total XID errors observed since exporter start.")
CLOCK_EVENTS_SINCE_START = MetricRow("DCGM_EXP_CLOCK_EVENTS_TOTAL", COUNTER, ("clock_event",), "Total clock events observed since exporter start: how often each began.")
EVENTS = (XIDS_IN_WINDOW, CLOCK_EVENTS_IN_WINDOW, XIDS_SINCE_START, CLOCK_EVENTS_SINCE_START)

XIDS = MetricRow("gputide_gpu_xid_errors_total", COUNTER, (*DEVICE, "xid"), "XID errors of the GPU since the exporter started, by code.")
XID_LAST_SEEN = MetricRow("gputide_gpu_xid_last_seen_timestamp_seconds", GAUGE, (*DEVICE, "xid"), "When an XID error of this code was last seen on the GPU.")
COMPUTE_PROCESSES = MetricRow("gputide_gpu_compute_processes", GAUGE, DEVICE, "Compute processes on the GPU.")

DEVICE_UP = MetricRow("gputide_exporter_device_up", GAUGE, DEVICE, "1 where the GPU is read; 0 where it is lost, hung or failed: gputide_exporter_device_problem_info says which, and why.")
DEVICE_PROBLEM = MetricRow("gputide_exporter_device_problem_info", INFO, (*DEVICE, "state", "problem"), "Why a GPU is not up, in the driver's words.")
DEVICE_READ_DURATION = MetricRow("gputide_exporter_device_read_duration_seconds", GAUGE, DEVICE, "How long the last reading of the GPU took.")
DEVICE_AGE = MetricRow("gputide_exporter_device_reading_age_seconds", GAUGE, DEVICE, "Age of the GPU's reading when this page was made.")
DEVICES_EXPECTED = MetricRow("gputide_exporter_devices_expected", GAUGE, (), "GPUs that the exporter has seen on this node since it started.")
DEVICES_PRESENT = MetricRow("gputide_exporter_devices_present", GAUGE, (), "GPUs that the driver shows now.")
DEVICES_LOST = MetricRow("gputide_exporter_devices_lost", GAUGE, (), "GPUs that are off the bus, or no longer enumerated.")
PROBLEM = MetricRow("gputide_exporter_problem_info", INFO, ("source", "problem"), "What cannot be read on this node, and what would mend it.")
UNSUPPORTED = MetricRow("gputide_exporter_unsupported_info", INFO, (*DEVICE, "field", "reason"), "A selected field that this GPU, its driver or its permissions do not give, and why.")
OWNERSHIP_AGE = MetricRow("gputide_exporter_ownership_age_seconds", GAUGE, (), "Age of the mapping from GPUs to pods when this page was made.")
SERIES = MetricRow("gputide_exporter_series", GAUGE, (), "Series on this page, without the exporter's own.")
CUT = MetricRow("gputide_exporter_cut", GAUGE, ("what",), "What a limit has cut from this page, by kind.")
FROM_SNAPSHOT = (XIDS, XID_LAST_SEEN, COMPUTE_PROCESSES, DEVICE_UP, DEVICE_PROBLEM, DEVICE_READ_DURATION, DEVICE_AGE, DEVICES_EXPECTED, DEVICES_PRESENT, DEVICES_LOST, PROBLEM, UNSUPPORTED, OWNERSHIP_AGE, SERIES, CUT)

# What only the process that serves the page knows.
BUILD = MetricRow("gputide_exporter_build_info", INFO, ("version",), "Version of the exporter.")
COLLECTION_DURATION = MetricRow("gputide_exporter_collection_duration_seconds", GAUGE, (), "How long the last collection took.")
COLLECTION_AGE = MetricRow("gputide_exporter_collection_age_seconds", GAUGE, (), "Age of the page when it was served.")
COLLECTIONS = MetricRow("gputide_exporter_collections_total", COUNTER, (), "Collections since the exporter started.")
ERRORS = MetricRow("gputide_exporter_errors_total", COUNTER, ("kind",), "Errors since the exporter started, by kind.")
SCRAPES = MetricRow("gputide_exporter_scrapes_total", COUNTER, ("format",), "Pages served since the exporter started, by format.")
FROM_PROCESS = (BUILD, COLLECTION_DURATION, COLLECTION_AGE, COLLECTIONS, ERRORS, SCRAPES)
# fmt: on

CLOCK_EVENTS = {
    0x001: "gpu_idle",
    0x002: "clocks_setting",
    0x004: "power_cap",
    0x008: "hw_slowdown",
    0x010: "sync_boost",
    0x020: "sw_thermal",
    0x040: "hw_thermal",
    0x080: "hw_power_brake",
    0x100: "display_clocks",
}
"""Bit of the clock event reasons -> `clock_event`."""

XID_MESSAGES = {
    13: "graphics engine exception",
    31: "GPU memory page fault",
    32: "invalid or corrupted push buffer stream",
    38: "driver firmware error",
    43: "GPU stopped processing",
    45: "preemptive cleanup after earlier errors",
    48: "double bit ECC error",
    56: "display engine error",
    61: "internal micro-controller breakpoint or warning",
    62: "internal micro-controller halt",
    63: "ECC page retirement or row remapping recorded",
    64: "ECC page retirement or row remapping failed",
    68: "video processor exception",
    69: "graphics engine class error",
    74: "NVLink error",
    79: "GPU has fallen off the bus",
    92: "high rate of single bit ECC errors",
    94: "contained ECC error",
    95: "uncontained ECC error",
    109: "context switch timeout",
    119: "GSP call timed out",
    120: "GSP error",
    121: "C2C link error",
    140: "unrecovered ECC error",
    143: "GPU initialization error",
    154: "GPU recovery action changed",
}
"""What the driver's XID codes mean, in short."""
