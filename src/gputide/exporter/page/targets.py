"""Who has series on a page: GPUs and MIG instances, with their labels as text."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace

from gputide.exporter.catalog import Derived, FieldRow, Scope, is_number
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
from gputide.exporter.page.model import Budget, Cut
from gputide.exporter.selection import Selection
from gputide.exposition import Labels

_NO_VALUES: Mapping[Field, float] = {}


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Something that has series: a GPU, or one of its instances."""

    device: Device
    holder: Holder
    labels: Labels
    """Without the holder's."""

    text: str
    """All labels, as they stand between name and value."""

    values: Mapping[Field, float]
    derived: Mapping[Derived, float]


@dataclass(frozen=True, slots=True)
class Targets:
    """The node's targets by scope: whose series a field has."""

    by_scope: Mapping[Scope, tuple[Target, ...]]
    cards: tuple[Target, ...]
    """Each GPU that has a reading, once."""


class TargetMaker:
    """Finds the targets of each page; keeps their label texts until something changes."""

    def __init__(self, selection: Selection, options: PageOptions) -> None:
        self._label_fields = selection.labels
        self._options = options
        self._cache = LabelCache[tuple[Labels, LabelText]]()

    def targets(
        self,
        devices: Iterable[DeviceStatus],
        node_name: str,
        allocations: Allocations,
        budget: Budget,
    ) -> Targets:
        """Return who has series on this page. A GPU without a reading has none."""
        read = [(each.device, each.reading) for each in devices if each.reading is not None]
        cards: list[Target] = []
        scopes: dict[Scope, list[Target]] = {scope: [] for scope in Scope}
        for device, reading in read:
            context = _Context(node_name, allocations, len(read), budget)
            card = self._target(device, None, reading, context)
            own = [self._target(device, each, reading, context) for each in device.mig_instances]
            cards.append(card)
            scopes[Scope.INSTANCE] += own or [card]
            scopes[Scope.CARD] += self._card_wide(card, own)
            if not device.is_mig_enabled:
                scopes[Scope.NOT_IN_MIG].append(card)
        self._cache.turn()
        return Targets({scope: tuple(each) for scope, each in scopes.items()}, tuple(cards))

    def text(self, labels: Labels, holder: Holder) -> LabelText:
        """Return a target's labels and its holder's as text, not kept."""
        more, dropped = holder_labels(holder, (name for name, _ in labels), self._options)
        return label_text((*labels, *more), dropped, self._options)

    def _card_wide(self, card: Target, own: list[Target]) -> list[Target]:
        """Return the card once, or its values under each instance's labels as DCGM does."""
        if not (self._options.is_card_repeated and own):
            return [card]
        return [replace(each, values=card.values, derived=card.derived) for each in own]

    def _target(
        self, device: Device, instance: MigInstance | None, reading: Reading, context: "_Context"
    ) -> Target:
        values: Mapping[Field, float] = reading.values
        key: tuple[str, int | None] = (device.uuid, None)
        if instance is not None:
            key = (device.uuid, instance.gpu_instance_id)
            values = reading.mig_values.get(instance.gpu_instance_id, _NO_VALUES)
        holder = Holder(owner=context.allocations.sole_owner(key))
        fields = tuple(
            (label.name, _label_value(label.source, device, reading.values))
            for label in self._label_fields
        )
        made_from = (device, instance, fields, context.node_name, holder)
        kept = self._cache.find(key, made_from)
        if kept is None:
            labels = device_labels(device, instance, fields, context.node_name, self._options)
            kept = self._cache.keep(key, made_from, (labels, self.text(labels, holder)))
        labels, text = kept
        context.budget.cut(Cut.LABEL_VALUES, text.shortened_values)
        context.budget.cut(Cut.POD_LABELS, text.dropped_pod_labels)
        return Target(
            device=device,
            holder=holder,
            labels=labels,
            text=text.text,
            values=values,
            derived=derive(values, device_count=context.device_count),
        )


@dataclass(frozen=True, slots=True)
class _Context:
    """What the targets of one page share."""

    node_name: str
    allocations: Allocations
    device_count: int
    budget: Budget


def _label_value(source: Fact | FieldRow, device: Device, values: Mapping[Field, float]) -> str:
    """Return a label field's text; empty where the GPU does not tell."""
    if isinstance(source, Fact):
        return device.facts.get(source, "")
    value = None if isinstance(source.source, Derived) else values.get(source.source)
    return source.unit.text(value) if is_number(value) else ""
