"""DCGM_FI_* and DCGM_EXP_*: the series of GPUs and MIG instances. The hot path."""

from collections.abc import Mapping, Sequence

from gputide.exporter.catalog import LARGEST, Derived, Scope, Style, own
from gputide.exporter.fields import Field
from gputide.exporter.options import PageOptions
from gputide.exporter.page.labels import Holder, LabelCache
from gputide.exporter.page.model import Block, Budget
from gputide.exporter.page.targets import Target, TargetMaker, Targets
from gputide.exporter.page.windows import EventWindows
from gputide.exporter.selection import ChosenEvents, ChosenField, Selection
from gputide.exposition import Labels

Column = Sequence[tuple[str, Mapping[Field | Derived, float]]]
"""Labels as text, and values, of all targets of a field."""


class DeviceBlocks:
    """Makes the blocks of GPUs."""

    def __init__(self, selection: Selection, options: PageOptions, maker: TargetMaker) -> None:
        self._selection = selection
        self._options = options
        self._maker = maker
        self._event_texts = LabelCache[str]()

    def blocks(self, targets: Targets, budget: Budget) -> list[Block]:
        """Return a block for each selected field that some target has."""
        told = {scope: _column(each, is_derived=False) for scope, each in targets.by_scope.items()}
        derived = {
            scope: _column(each, is_derived=True) for scope, each in targets.by_scope.items()
        }
        found = []
        for chosen in self._selection.fields:
            columns = derived if isinstance(chosen.row.source, Derived) else told
            column = columns[chosen.row.scope]
            if chosen.row.source is Field.XID_LAST and self._options.has_xid_text:
                column = self._with_xid_text(targets.by_scope[Scope.CARD])
            if lines := budget.take(_lines(chosen, column)):
                found.append(Block.of(chosen.name, chosen.kind, chosen.help, lines))
        return found

    def event_blocks(self, targets: Targets, windows: EventWindows, budget: Budget) -> list[Block]:
        """Return the blocks that count events."""
        found = []
        for chosen in self._selection.events:
            lines = [line for each in targets.cards for line in self._events(chosen, each, windows)]
            if lines := budget.take(lines):
                found.append(Block.of(chosen.name, chosen.kind, chosen.help, lines))
        self._event_texts.turn()
        return found

    def _with_xid_text(self, targets: tuple[Target, ...]) -> Column:
        """Return the targets, those with an XID labelled with its code and meaning."""
        column = []
        for target in targets:
            xid, text = target.values.get(Field.XID_LAST), target.text
            if xid is not None and 0 < xid < LARGEST:
                message = own.XID_MESSAGES.get(int(xid), "unknown XID")
                extra = (("err_code", str(int(xid))), ("err_msg", message))
                holder = Holder(owner=target.holder.owner, extra=extra)
                text = self._maker.text(target.labels, holder).text
            column.append((text, _as_column(target.values)))
        return column

    def _events(self, chosen: ChosenEvents, target: Target, windows: EventWindows) -> list[str]:
        counts, seconds = self._counts(chosen, target.device.uuid, windows)
        window: Labels = ()
        if seconds is not None:
            window = (("window_size_in_ms", str(round(seconds * 1000))),)
        name = next(label for label in chosen.row.labels if label != "window_size_in_ms")
        fixed = len(target.labels) - len(self._selection.labels)
        lines = []
        for key, count in counts.items():
            cache_key = (chosen.name, target.device.uuid, key)
            made_from = (target.labels, target.holder)
            text = self._event_texts.find(cache_key, made_from)
            if text is None:
                fields = sorted((*target.labels[fixed:], (name, str(key)), *window))
                made = self._maker.text((*target.labels[:fixed], *fields), target.holder)
                text = self._event_texts.keep(cache_key, made_from, made.text)
            lines.append(f"{chosen.name}{text}{count}\n")
        return lines

    def _counts(
        self, chosen: ChosenEvents, uuid: str, windows: EventWindows
    ) -> tuple[Mapping[int, int] | Mapping[str, int], float | None]:
        """Return the counts by code or event, and the window where it is one."""
        if chosen.row is own.XIDS_IN_WINDOW:
            return windows.xids(uuid), self._options.xid_window_seconds
        if chosen.row is own.CLOCK_EVENTS_IN_WINDOW:
            return windows.clock_events(uuid), self._options.clock_event_window_seconds
        if chosen.row is own.XIDS_SINCE_START:
            return windows.xid_totals(uuid), None
        return windows.clock_event_totals(uuid), None


def _column(targets: tuple[Target, ...], *, is_derived: bool) -> Column:
    if is_derived:
        return [(each.text, _as_column(each.derived)) for each in targets]
    return [(each.text, _as_column(each.values)) for each in targets]


def _as_column(
    values: Mapping[Field, float] | Mapping[Derived, float],
) -> Mapping[Field | Derived, float]:
    return values  # type: ignore[return-value]  # read only, so a wider key type is safe


def _lines(chosen: ChosenField, column: Column) -> list[str]:
    """Return the lines of one field in one pass.

    A value that is absent, NaN or infinite has no line: unknown is not a number.
    """
    name, source = chosen.name, chosen.row.source
    factor, style, top = chosen.row.unit.factor, chosen.row.unit.style, LARGEST
    if style is Style.DOUBLE:
        return [
            f"{name}{text}{value * factor:.6f}\n"
            for text, values in column
            if (value := values.get(source)) is not None and -top < value < top
        ]
    if style is Style.TRUNCATED:
        return [
            f"{name}{text}{int(value * factor)}\n"
            for text, values in column
            if (value := values.get(source)) is not None and -top < value < top
        ]
    return [
        f"{name}{text}{round(value * factor)}\n"
        for text, values in column
        if (value := values.get(source)) is not None and -top < value < top
    ]
