"""A snapshot to a page: the exporter's hot path. Pure."""

from gputide.exporter.model import Snapshot
from gputide.exporter.options import PageOptions
from gputide.exporter.page.allocation import allocations_of
from gputide.exporter.page.custom import CustomBlocks
from gputide.exporter.page.devices import DeviceBlocks
from gputide.exporter.page.health import count_families, own_families
from gputide.exporter.page.model import Budget, Page
from gputide.exporter.page.targets import TargetMaker
from gputide.exporter.page.windows import EventWindows
from gputide.exporter.selection import Selection, default_selection


class Renderer:
    """Renders one node's snapshots, the newest last.

    Label texts are kept until devices or owners change, and events are counted in their windows
    from one snapshot to the next; so keep one Renderer for as long as the node is served.
    """

    def __init__(
        self, selection: Selection | None = None, options: PageOptions | None = None
    ) -> None:
        self._selection = selection or default_selection()
        self._options = options or PageOptions()
        self._targets = TargetMaker(self._selection, self._options)
        self._devices = DeviceBlocks(self._selection, self._options, self._targets)
        self._custom = CustomBlocks(self._options)
        self._windows = EventWindows(
            xid_window_seconds=self._options.xid_window_seconds,
            clock_event_window_seconds=self._options.clock_event_window_seconds,
        )

    def render(self, snapshot: Snapshot) -> Page:
        """Return the page of a snapshot. Nothing in a snapshot makes it fail as a whole."""
        options = self._options
        budget = Budget(options.max_series)
        self._windows.observe(snapshot)
        devices = [status.device for status in snapshot.devices]
        allocations = allocations_of(snapshot.ownership, devices)
        targets = self._targets.targets(snapshot.devices, snapshot.node_name, allocations, budget)
        blocks = self._devices.blocks(targets, budget)
        blocks += self._devices.event_blocks(targets, self._windows, budget)
        if options.has_custom:
            blocks += self._custom.blocks(snapshot, allocations, budget)
        families = own_families(snapshot, self._selection, options)
        counts = count_families(budget.taken, budget.cuts)
        return Page(tuple(blocks), (*families, *counts), budget.cuts)


def render(
    snapshot: Snapshot, selection: Selection | None = None, options: PageOptions | None = None
) -> Page:
    """Return the page of a single snapshot; `Renderer` is for many."""
    return Renderer(selection, options).render(snapshot)
