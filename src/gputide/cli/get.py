"""`gputide get ahpa`: autoscalers as the server shows them, for people without kubectl."""

import asyncio
import sys
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from gputide.cli.cluster import Cluster, ClusterOption
from gputide.cli.logs import configure_logs
from gputide.cli.process import run_until_stopped
from gputide.errors import SettingError

if TYPE_CHECKING:
    from gputide.kube.client import KubeClient
    from gputide.kube.table import Table

NAMES = frozenset({"ahpa", "advancedhorizontalpodautoscaler", "advancedhorizontalpodautoscalers"})
Output = Literal["wide", "json", "yaml"]


def get(
    resource: str,
    name: str = "",
    /,
    *,
    all_namespaces: Annotated[bool, Parameter(name=["--all-namespaces", "-A"])] = False,
    output: Annotated[Output | None, Parameter(name=["--output", "-o"])] = None,
    watch: Annotated[bool, Parameter(name=["--watch", "-w"])] = False,
    cluster: ClusterOption = Cluster(),
) -> None:
    """Show autoscalers as kubectl does: demand, pods wanted and running, bounds in force.

    Parameters
    ----------
    resource:
        What to show: ahpa.
    name:
        One of them alone.
    all_namespaces:
        Show those of all namespaces.
    output:
        More columns (wide), or the objects themselves.
    watch:
        Print a row whenever one changes, until interrupted.
    cluster:
        The API server.

    """
    if resource.partition(".")[0] not in NAMES:
        raise SettingError("resource", f"{resource!r} is not shown here; `ahpa` is")
    if name and all_namespaces:
        raise SettingError("all-namespaces", "a name is of one namespace")
    if watch and output in ("json", "yaml"):
        raise SettingError("watch", "prints rows: leave out -o, or give -o wide")
    if watch:
        configure_logs("text")
    asked = _Asked(name, output, cluster, is_everywhere=all_namespaces)
    work = asked.run(is_watch=watch)
    asyncio.run(run_until_stopped(work) if watch else work)


class _Asked:
    """What is to be shown, and of which server."""

    def __init__(
        self, name: str, output: Output | None, cluster: Cluster, *, is_everywhere: bool
    ) -> None:
        self._name = name
        self._is_everywhere = is_everywhere
        self._output = output
        self._cluster = cluster

    async def run(self, *, is_watch: bool) -> None:
        """Print it."""
        async with self._cluster.client() as client:
            namespace = self._cluster.namespace or client.namespace
            if self._is_everywhere:
                namespace = ""
            if self._output in ("json", "yaml"):
                await self._objects(client, namespace)
                return
            table = await self._table(client, namespace, self._name)
            widths = table.widths()
            if table.rows or is_watch:
                _print(*table.lines(widths))
            else:
                where = f" in {namespace} namespace" if namespace else ""
                print(f"No resources found{where}.", file=sys.stderr)  # noqa: T201 as kubectl says it
            if is_watch:
                await self._follow(client, namespace, table, widths)

    async def _table(self, client: "KubeClient", namespace: str, name: str) -> "Table":
        from gputide.kube.asking import object_path
        from gputide.kube.model import AUTOSCALERS
        from gputide.kube.table import ACCEPT, decode_table

        path = AUTOSCALERS.path(namespace)
        if name:
            path = object_path(AUTOSCALERS, namespace, name)
        return decode_table(
            await client.raw(path, accept=ACCEPT),
            f"GET {path}",
            is_wide=self._output == "wide",
            has_namespaces=self._is_everywhere,
        )

    async def _objects(self, client: "KubeClient", namespace: str) -> None:
        from gputide.kube.model import AUTOSCALERS

        if self._name:
            shown = await client.get(AUTOSCALERS, namespace, self._name)
            items = [shown]
        else:
            listed: Any = await client.list(AUTOSCALERS, namespace)
            items = list(listed.items)
            shown = {
                "apiVersion": "v1",
                "items": items,
                "kind": "List",
                "metadata": {"resourceVersion": ""},
            }
        for item in items:
            item.get("metadata", {}).pop("managedFields", None)  # as kubectl leaves it out
        _print(_rendered(shown, is_yaml=self._output == "yaml"))

    async def _follow(
        self, client: "KubeClient", namespace: str, table: "Table", widths: list[int]
    ) -> None:
        from gputide.clock import SystemClock
        from gputide.kube.errors import NotFoundError
        from gputide.kube.mirror import Mirror
        from gputide.kube.model import AUTOSCALERS, version_of

        changed: dict[tuple[str, str], None] = {}
        mirror = Mirror(
            client,
            AUTOSCALERS,
            version_of,
            SystemClock(),
            namespace=namespace,
            field_selector=f"metadata.name={self._name}" if self._name else "",
        )
        shown = dict(table.versions)
        mirror.on_change(changed.setdefault)
        async with asyncio.TaskGroup() as group:
            group.create_task(mirror.run())
            while True:
                if not changed:
                    await mirror.wait_changed()
                keys = [one for one in changed if mirror.objects.get(one) != shown.get(one)]
                changed.clear()
                for key in keys:
                    try:
                        row = await self._table(client, *key)
                    except NotFoundError:  # gone meanwhile
                        shown.pop(key, None)
                        continue
                    _print(*row.lines(widths, has_headers=False))
                    shown.update(row.versions)


def _rendered(obj: Any, *, is_yaml: bool) -> str:  # noqa: ANN401  any JSON
    """Return it as kubectl writes it: sorted, indented by 4 (JSON) or 2."""
    if is_yaml:
        import yaml

        return yaml.safe_dump(obj, sort_keys=True, default_flow_style=False, allow_unicode=True)[
            :-1
        ]
    import json

    return json.dumps(obj, indent=4, sort_keys=True, ensure_ascii=False)


def _print(*lines: str) -> None:
    for line in lines:
        print(line, flush=True)  # noqa: T201 what was asked for
