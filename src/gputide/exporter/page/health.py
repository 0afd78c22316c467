"""How GPUs and the exporter are doing: the exporter's own metrics that a snapshot tells."""

from collections.abc import Iterator
from math import isfinite

from gputide.exporter.catalog import Derived, MetricRow, Scope, is_number, own
from gputide.exporter.fields import Field
from gputide.exporter.model import Device, DeviceState, DeviceStatus, Reading, Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.derive import SOURCES
from gputide.exporter.page.labels import uuid_name
from gputide.exporter.page.model import Cut
from gputide.exporter.reasons import MIG_WHOLE_ONLY
from gputide.exporter.selection import ChosenField, Selection
from gputide.exposition import Family, Labels, Sample

_Found = dict[str, list[tuple[Labels, float]]]
SILENT_REASON = "the driver gave neither a number nor a reason"


def own_families(
    snapshot: Snapshot, selection: Selection, options: PageOptions
) -> tuple[Family, ...]:
    """Return the exporter's own families, without the counts of series and cuts."""
    found: _Found = {}
    needed = _needed(selection)
    for status in snapshot.devices:
        labels = _labels(status.device, options)
        _add_device(found, status, snapshot.at_seconds, labels)
        if _has_all(status, needed):
            continue
        for field, reason in unsupported(status, selection):
            _add(found, own.UNSUPPORTED, (*labels, ("field", field), ("reason", reason)), 1)
    for untold in selection.untold:
        _add(found, own.UNSUPPORTED, (("field", untold.name), ("reason", untold.reason)), 1)
    _add_node(found, snapshot)
    return tuple(
        Family(row.name, row.kind, row.help, tuple(Sample(row.name, *each) for each in lines))
        for row in own.FROM_SNAPSHOT
        if (lines := found.get(row.name))
    )


def count_families(series_count: int, cuts: dict[Cut, int]) -> tuple[Family, ...]:
    """Return how many series the page has, and what each limit cut (0 where nothing)."""
    series = Family(
        own.SERIES.name,
        own.SERIES.kind,
        own.SERIES.help,
        (Sample(own.SERIES.name, (), series_count),),
    )
    samples = tuple(Sample(own.CUT.name, (("what", cut.value),), cuts.get(cut, 0)) for cut in Cut)
    return series, Family(own.CUT.name, own.CUT.kind, own.CUT.help, samples)


def _needed(selection: Selection) -> frozenset[Field]:
    return frozenset(each for chosen in selection.fields for each in _sources(chosen))


def _has_all(status: DeviceStatus, needed: frozenset[Field]) -> bool:
    """Return whether a whole GPU gives every field: the usual case, decided quickly."""
    reading, device = status.reading, status.device
    if reading is None or device.is_mig_enabled or needed.difference(reading.values):
        return False
    return all(map(isfinite, reading.values.values()))


def _sources(chosen: ChosenField) -> tuple[Field, ...]:
    source = chosen.row.source
    return SOURCES[source] if isinstance(source, Derived) else (source,)


def unsupported(status: DeviceStatus, selection: Selection) -> Iterator[tuple[str, str]]:
    """Yield each selected field that a GPU does not give, by its name on the page, and why."""
    reading = status.reading
    if reading is None:
        return
    for chosen in selection.fields:
        sources = _sources(chosen)
        is_hidden = chosen.row.scope is Scope.NOT_IN_MIG and status.device.is_mig_enabled
        if is_hidden or not _is_told(chosen.row.scope, sources, status.device, reading):
            reasons = [reading.unsupported[each] for each in sources if each in reading.unsupported]
            yield chosen.name, (*reasons, MIG_WHOLE_ONLY if is_hidden else SILENT_REASON)[0]


def _is_told(scope: Scope, sources: tuple[Field, ...], device: Device, reading: Reading) -> bool:
    """Return whether some target of the field has it."""
    has_own = scope is Scope.INSTANCE and device.mig_instances
    told = reading.mig_values.values() if has_own else (reading.values,)
    return any(all(is_number(values.get(each)) for each in sources) for values in told)


def _labels(device: Device, options: PageOptions) -> Labels:
    return (
        ("gpu", str(device.index)),
        (uuid_name(options), device.uuid),
        ("device", f"nvidia{device.minor_number}"),
    )


def _add(found: _Found, row: MetricRow, labels: Labels, value: float) -> None:
    found.setdefault(row.name, []).append((labels, value))


def _add_device(found: _Found, status: DeviceStatus, now_seconds: float, labels: Labels) -> None:
    is_up = status.state is DeviceState.UP
    state = ("state", status.state.value)
    _add(found, own.DEVICE_UP, labels, int(is_up))
    if not is_up:
        _add(found, own.DEVICE_PROBLEM, (*labels, state, ("problem", status.problem)), 1)
    if status.read_duration_seconds is not None:
        _add(found, own.DEVICE_READ_DURATION, labels, status.read_duration_seconds)
    for count in status.xids:
        code = ("xid", str(count.xid))
        _add(found, own.XIDS, (*labels, code), count.count)
        _add(found, own.XID_LAST_SEEN, (*labels, code), count.last_seen_seconds)
    if status.reading is not None:
        _add(found, own.DEVICE_AGE, labels, max(now_seconds - status.reading.at_seconds, 0))
        processes = status.reading.values.get(Field.COMPUTE_PROCESSES)
        if processes is not None:
            _add(found, own.COMPUTE_PROCESSES, labels, processes)


def _add_node(found: _Found, snapshot: Snapshot) -> None:
    lost = sum(status.state is DeviceState.LOST for status in snapshot.devices)
    _add(found, own.DEVICES_EXPECTED, (), len(snapshot.devices))
    _add(found, own.DEVICES_PRESENT, (), len(snapshot.devices) - lost)
    _add(found, own.DEVICES_LOST, (), lost)
    if snapshot.problem:
        _add(found, own.PROBLEM, (("source", "driver"), ("problem", snapshot.problem)), 1)
    owners = snapshot.ownership
    for problem in dict.fromkeys((*owners.problems, *owners.detail_problems)):
        _add(found, own.PROBLEM, (("source", "ownership"), ("problem", problem)), 1)
    age = max(snapshot.at_seconds - owners.at_seconds, 0)
    _add(found, own.OWNERSHIP_AGE, (), age)
