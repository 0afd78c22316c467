"""`gputide apply -f`: manifests to the server, for people without kubectl."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from cyclopts import Parameter

from gputide.cli.cluster import Cluster, ClusterOption
from gputide.clock import SystemClock
from gputide.errors import InputError

if TYPE_CHECKING:
    from gputide.kube.documents import Document

SUFFIXES = frozenset({".yaml", ".yml", ".json"})


def apply(
    *,
    filename: Annotated[tuple[Path, ...], Parameter(name=["--filename", "-f"])],
    dry_run: bool = False,
    force_conflicts: bool = False,
    cluster: ClusterOption = Cluster(),
) -> None:
    """Apply manifests by server-side apply; say of each object what became of it.

    Parameters
    ----------
    filename:
        YAML or JSON of one or more documents; a folder of such files; - reads standard input.
    dry_run:
        Let the server check everything, and change nothing.
    force_conflicts:
        Take over fields that another manager owns.
    cluster:
        The API server.

    """
    documents = [document for path in filename for document in _read(path)]
    asyncio.run(_apply(documents, cluster, dry_run=dry_run, force_conflicts=force_conflicts))


async def _apply(
    documents: "list[Document]", cluster: Cluster, *, dry_run: bool, force_conflicts: bool
) -> None:
    from gputide.kube.apply import ApplyOptions, apply

    async with cluster.client() as client:
        options = ApplyOptions(
            namespace=cluster.namespace or client.namespace,
            is_namespace_asked=bool(cluster.namespace),
            is_dry_run=dry_run,
            is_forced=force_conflicts,
        )
        async for line in apply(client, documents, options, SystemClock()):
            print(line, flush=True)  # noqa: T201 what was asked for


def _read(path: Path) -> "list[Document]":
    from gputide.kube.documents import MAX_BYTES, read_documents

    try:
        if path.is_dir():
            files = sorted(one for one in path.iterdir() if one.suffix in SUFFIXES)
            if not files:
                raise InputError(str(path), "holds no .yaml, .yml or .json file")
            return [document for one in files for document in _read(one)]
        with path.open("rb") as file:
            content = file.read(MAX_BYTES + 1)
    except OSError as error:
        raise InputError(str(path), f"cannot be read: {error.strerror}") from error
    return read_documents(content, str(path))
