"""The reference page of all metrics, written from the catalog."""

from collections.abc import Iterable

from gputide.exporter.catalog import custom, own
from gputide.exporter.catalog.aliases import DCGM_4_6, EXPORTER_1
from gputide.exporter.catalog.dcgm import FIELDS, LABELS
from gputide.exporter.catalog.differences import DIFFERENCES
from gputide.exporter.catalog.rows import FieldRow, MetricRow, Style

_INTRODUCTION = """\
# Metrics of the exporter

Written from the catalog (`gputide.exporter.catalog`); a test keeps the two alike.

A series that is not on a page is not zero: the GPU, its driver or our permissions do not give it,
and `gputide_exporter_unsupported_info` names the field and the reason.

Labels of `DCGM_FI_*` and `DCGM_EXP_*`, in this order: `gpu`, `UUID` (`uuid` in the old namespace),
`pci_bus_id`, `device`, `modelName`, on MIG instances `GPU_I_PROFILE` and `GPU_I_ID`, `Hostname` (or
`hostname`, or none), the selected label fields by name, then by name what belongs to the holder:
`container`, `namespace`, `pod`, and on request `pod_uid` and the pod's labels. They name a holder
only where exactly one container holds the GPU or instance. A GPU that several share has its series
once and without a pod; what is really a container's or a process' are the `DCGM_CUSTOM_*` below.
"""

_MEANING = """\
## Where a value means something else than in dcgm-exporter

| metric | here | dcgm-exporter |
|---|---|---|
| `DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL` | a counter, MiB sent and received since the driver started; its `rate()` is a bandwidth | typed counter, but a rate in MB/s |
| `DCGM_FI_DEV_PCIE_TX_THROUGHPUT`, `..._RX_...` | gauge, KB/s, sampled for 20 ms, only where switched on | typed counter in old counters files; not supported by DCGM now |
| `DCGM_EXP_*_COUNT` | gauge, whatever the counters file says: it counts inside a window and goes down again | as the file says |
| `DCGM_FI_DEV_*` of a card in MIG mode | once, without `GPU_I_*` | repeated for each instance; a sum counts them often |
| `DCGM_FI_DEV_*_VIOLATION` | ns, as NVML counts | ns (Alibaba Cloud's documents say µs) |
| `DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION` | mJ | mJ (Alibaba Cloud's documents say J) |
| `DCGM_FI_DEV_COUNT` | gauge | counter in old counters files |
| integers of "no value" (9223372036854775792 and above) | no series | printed by old releases |
| label values | escaped | not escaped: a quote in a pod label breaks the page |

What `promtool check metrics` says of a page is about names that are DCGM's and stay: `modelName` is in
camel case, DCGM's counters do not end in `_total`, and `DCGM_FI_DEV_PCIE_REPLAY_COUNTER` has its
type in its name. It finds nothing else, and nothing in the names that are ours. In OpenMetrics, where
a counter must end in `_total`, DCGM's counters are declared `unknown`; names never depend on the format.
"""


def reference() -> str:
    """Return the page as Markdown."""
    sections = (
        _INTRODUCTION,
        _fields(),
        _label_fields(),
        _metrics("## Counts of events (on request)", own.EVENTS),
        _custom(),
        _metrics("## Ours: what the snapshot tells", own.FROM_SNAPSHOT),
        _metrics("## Ours: what the serving process tells", own.FROM_PROCESS),
        _other_names(),
        _MEANING,
        _differences(),
    )
    return "\n".join(sections)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [head, ("---",) * len(head), *rows]
    return "".join(f"| {' | '.join(cells)} |\n" for cells in lines)


def _fields() -> str:
    head = ("name", "type", "default", "printed as", "in MIG mode", "help")
    return "## DCGM fields\n\n" + _table(head, (_field(row) for row in FIELDS))


def _field(row: FieldRow) -> tuple[str, ...]:
    forms = {
        Style.DOUBLE: "six decimals",
        Style.TRUNCATED: "integer, cut off",
        Style.ROUNDED: "integer",
    }
    printed = ", ".join(part for part in (row.unit.symbol, forms[row.unit.style]) if part)
    default = "yes" if row.is_default else ""
    return f"`{row.name}`", str(row.kind), default, printed, str(row.scope), row.help


def _label_fields() -> str:
    rows = ((f"`{r.name}`", "yes" if r.is_default else "", r.help) for r in LABELS)
    return "## DCGM fields that become labels\n\n" + _table(("name", "default", "help"), rows)


def _metrics(title: str, rows: Iterable[MetricRow]) -> str:
    cells = (
        (f"`{r.name}`", str(r.kind), " ".join(f"`{label}`" for label in r.labels), r.help)
        for r in rows
    )
    return f"{title}\n\n" + _table(("name", "type", "labels", "help"), cells)


def _custom() -> str:
    processes = (
        MetricRow(name, own.GAUGE, custom.PROCESS_LABELS, row.help)
        for row in custom.PROCESSES
        for name in (row.name, row.illegal_name)
    )
    return _metrics(
        "## Alibaba Cloud's additions\n\n"
        "`ILLEGAL` is a container's process on a GPU that was not allocated to it. On MIG instances\n"
        "`GPU_I_ID` and `GPU_I_PROFILE` are added. `NodePoolId` and `PodSource` are there where set.",
        (*custom.ROWS, *processes),
    )


def _other_names() -> str:
    rows = [(f"`{other}`", f"`{name}`", "DCGM 4.6") for other, name in DCGM_4_6.items()]
    rows += [(f"`{other}`", f"`{name}`", "dcgm-exporter 1.x") for other, name in EXPORTER_1.items()]
    return (
        "## Other names that a counters file may use\n\n"
        "The page prints the name that the file uses.\n\n" + _table(("name", "is", "of"), rows)
    )


def _differences() -> str:
    rows = (
        (each.what, ", ".join(each.pages), "yes" if each.is_switchable else "no", each.why)
        for each in DIFFERENCES
    )
    head = ("difference", "recorded pages", "can be made alike", "why")
    return (
        "## Differences to recorded pages of dcgm-exporter\n\n"
        "Our default page beside pages recorded on the same hardware; `there` is dcgm-exporter's.\n\n"
        + _table(head, rows)
    )
