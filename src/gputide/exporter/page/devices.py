"""DCGM_FI_* and DCGM_EXP_*: the series of GPUs and MIG instances."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from gputide.exporter.catalog import Derived, FieldRow, Scope, Style, own
from gputide.exporter.fields import Fact, Field
from gputide.exporter.model import Device, DeviceStatus, MigInstance, Reading
from gputide.exporter.options import PageOptions
from gputide.exporter.page.allocation import Allocations
from gputide.exporter.page.derive import derive
from gputide.exporter.page.labels import (
    Holder,
    LabelCache,
    LabelText,
    device_labels,
    holder_labels,
    label_text,
)
from gputide.exporter.page.model import Block, Budget, Cut
from gputide.exporter.page.windows import EventWindows
from gputide.exporter.selection import ChosenEvents, ChosenField, Selection
from gputide.exposition import Labels

_INFINITY = float("inf")
_NO_VALUES: Mapping[Field, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class _Target:
    """Something that has series: a GPU, or one of its instances."""

    device: Device
    instance: MigInstance | None
    labels: Labels
    """Of the device, without the holder's."""

    holder: Holder
    text: str
    values: Mapping[Field, float]
    derived: Mapping[Derived, float]


@dataclass(frozen=True, slots=True)
class Targets:
    """The node's targets by scope: whose series a field has."""

    by_scope: Mapping[Scope, tuple[_Target, ...]]
    cards: tuple[_Target, ...]
    """Each GPU that has a reading, once."""


class DeviceBlocks:
    """Makes the blocks of GPUs; keeps label texts between pages."""

    def __init__(self, selection: Selection, options: PageOptions) -> None:
        self._selection = selection
        self._options = options
        self._cache = LabelCache()

    def targets(
        self,
        devices: Iterable[DeviceStatus],
        node_name: str,
        allocations: Allocations,
        budget: Budget,
    ) -> Targets:
        """Return who has series on this page. A GPU without a reading has none."""
        read = [(each.device, each.reading) for each in devices if each.reading is not None]
        cards: list[_Target] = []
        scopes: dict[Scope, list[_Target]] = {scope: [] for scope in Scope}
        for device, reading in read:
            make = _Maker(self, device, reading, node_name, allocations, len(read))
            card = make.target(None, reading.values, budget)
            own = [
                make.target(each, reading.mig_values.get(each.gpu_instance_id, _NO_VALUES), budget)
                for each in device.mig_instances
            ]
            cards.append(card)
            scopes[Scope.INSTANCE] += own or [card]
            scopes[Scope.CARD] += self._card_wide(make, card, own)
            if not device.is_mig_enabled:
                scopes[Scope.NOT_IN_MIG].append(card)
        self._cache.turn()
        return Targets({scope: tuple(each) for scope, each in scopes.items()}, tuple(cards))

    def _card_wide(self, make: "_Maker", card: _Target, own: list[_Target]) -> list[_Target]:
        if not (self._options.is_card_repeated and own):
            return [card]
        return [make.copy_of(card, each) for each in own]

    def blocks(self, targets: Targets, budget: Budget) -> list[Block]:
        """Return a block for each selected field that some target has."""
        found = []
        for chosen in self._selection.fields:
            lines = self._lines(chosen, targets.by_scope[chosen.row.scope])
            if lines := budget.take(lines):
                found.append(Block.of(chosen.name, chosen.kind, chosen.help, lines))
        return found

    def event_blocks(self, targets: Targets, windows: EventWindows, budget: Budget) -> list[Block]:
        """Return the blocks of events in a window."""
        found = []
        for chosen in self._selection.events:
            lines = [line for each in targets.cards for line in self._events(chosen, each, windows)]
            if lines := budget.take(lines):
                found.append(Block.of(chosen.name, chosen.kind, chosen.help, lines))
        return found

    def _lines(self, chosen: ChosenField, targets: tuple[_Target, ...]) -> list[str]:
        source = chosen.row.source
        if source is Field.XID_LAST and self._options.has_xid_text:
            return self._xid_lines(chosen, targets)
        if isinstance(source, Derived):
            return _numbers(chosen, [(each.text, each.derived.get(source)) for each in targets])
        return _numbers(chosen, [(each.text, each.values.get(source)) for each in targets])

    def _xid_lines(self, chosen: ChosenField, targets: tuple[_Target, ...]) -> list[str]:
        pairs: list[tuple[str, float | None]] = []
        for target in targets:
            xid = target.values.get(Field.XID_LAST)
            if xid is not None and xid > 0:  # which NaN is not
                message = own.XID_MESSAGES.get(int(xid), "unknown XID")
                extra = (("err_code", str(int(xid))), ("err_msg", message))
                holder = Holder(owner=target.holder.owner, extra=extra)
                pairs.append((self._text(target.labels, holder).text, xid))
            else:
                pairs.append((target.text, xid))
        return _numbers(chosen, pairs)

    def _events(self, chosen: ChosenEvents, target: _Target, windows: EventWindows) -> list[str]:
        counts: Mapping[int, int] | Mapping[str, int]
        if chosen.row is own.XIDS_IN_WINDOW:
            name, counts = "xid", windows.xids(target.device.uuid)
            seconds = self._options.xid_window_seconds
        else:
            name, counts = "clock_event", windows.clock_events(target.device.uuid)
            seconds = self._options.clock_event_window_seconds
        window = ("window_size_in_ms", str(round(seconds * 1000)))
        fixed = len(target.labels) - len(self._selection.labels)
        lines = []
        for key, count in counts.items():
            fields = sorted((*target.labels[fixed:], (name, str(key)), window))
            labels = (*target.labels[:fixed], *fields)
            lines.append(f"{chosen.name}{self._text(labels, target.holder).text}{count}\n")
        return lines

    def text_of(self, key: object, labels: Labels, holder: Holder, budget: Budget) -> str:
        """Return the labels of a target as text, from the cache where nothing changed."""
        made_from = (labels, holder)
        text = self._cache.find(key, made_from)
        if text is None:
            text = self._cache.keep(key, made_from, self._text(labels, holder))
        budget.cut(Cut.LABEL_VALUES, text.shortened_values)
        budget.cut(Cut.POD_LABELS, text.dropped_pod_labels)
        return text.text

    def _text(self, labels: Labels, holder: Holder) -> LabelText:
        more, dropped = holder_labels(holder, (name for name, _ in labels), self._options)
        return label_text((*labels, *more), dropped, self._options)

    def labels_of(
        self, device: Device, instance: MigInstance | None, reading: Reading, node_name: str
    ) -> Labels:
        """Return a target's labels without its holder's. A fact that is not told is empty."""
        fields = tuple(
            (label.name, _label_value(label.source, device, reading.values))
            for label in self._selection.labels
        )
        return device_labels(device, instance, fields, node_name, self._options)


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes the targets of one GPU."""

    blocks: DeviceBlocks
    device: Device
    reading: Reading
    node_name: str
    allocations: Allocations
    device_count: int

    def target(
        self, instance: MigInstance | None, values: Mapping[Field, float], budget: Budget
    ) -> _Target:
        key = (self.device.uuid, None if instance is None else instance.gpu_instance_id)
        holder = Holder(owner=self.allocations.sole_owner(key))
        labels = self.blocks.labels_of(self.device, instance, self.reading, self.node_name)
        return _Target(
            device=self.device,
            instance=instance,
            labels=labels,
            holder=holder,
            text=self.blocks.text_of(key, labels, holder, budget),
            values=values,
            derived=derive(values, device_count=self.device_count),
        )

    def copy_of(self, card: _Target, instance: _Target) -> _Target:
        """Return the card's values under an instance's labels."""
        return _Target(
            device=card.device,
            instance=instance.instance,
            labels=instance.labels,
            holder=instance.holder,
            text=instance.text,
            values=card.values,
            derived=card.derived,
        )


def _label_value(source: Fact | FieldRow, device: Device, values: Mapping[Field, float]) -> str:
    if isinstance(source, Fact):
        return device.facts.get(source, "")
    value = None if isinstance(source.source, Derived) else values.get(source.source)
    return "" if value is None or not -_INFINITY < value < _INFINITY else source.unit.text(value)


def _numbers(chosen: ChosenField, pairs: list[tuple[str, float | None]]) -> list[str]:
    """Return the lines of one field: the hot path, one pass for each style of number.

    A value that is absent, NaN or infinite has no line: unknown is not a number.
    """
    name, unit = chosen.name, chosen.row.unit
    factor = unit.factor
    known = [(t, v) for t, v in pairs if v is not None and -_INFINITY < v < _INFINITY]
    if unit.style is Style.DOUBLE:
        return [f"{name}{text}{value * factor:.6f}\n" for text, value in known]
    if unit.style is Style.TRUNCATED:
        return [f"{name}{text}{int(value * factor)}\n" for text, value in known]
    return [f"{name}{text}{round(value * factor)}\n" for text, value in known]
