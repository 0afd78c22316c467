"""`gputide report`: the observer's page of an autoscaler, or its numbers."""

import asyncio
import binascii
import sys
from base64 import b64decode
from pathlib import Path
from typing import Annotated

from cyclopts import Parameter

from gputide.cli.cluster import Cluster, ClusterOption
from gputide.errors import InputError, QueryError

PAGE, NUMBERS = "predictionsobserver", "predictions"
STDOUT = Path("/dev/stdout")


def report(
    name: str,
    /,
    *,
    output: Annotated[Path, Parameter(name=["--output", "-o"])] = STDOUT,
    json: bool = False,
    cluster: ClusterOption = Cluster(),
) -> None:
    """Write an autoscaler's page: what was, what was foreseen, and what comes.

    Parameters
    ----------
    name:
        The autoscaler.
    output:
        File to write; standard output if not given.
    json:
        Write the numbers instead of the page.
    cluster:
        The API server; `gputide metricsapi` answers behind it.

    """
    content = asyncio.run(_ask(name, NUMBERS if json else PAGE, cluster))
    if not json:
        content = _page(content)
    if output == STDOUT:
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise InputError(str(output), f"cannot be written: {error.strerror}") from error


async def _ask(name: str, plural: str, cluster: Cluster) -> bytes:
    from gputide.kube.asking import object_path
    from gputide.kube.errors import BusyError, NotFoundError
    from gputide.kube.model import ResourceType

    kind = ResourceType(
        group="metrics.alibabacloud.com", version="v1beta1", plural=plural, kind="Prediction"
    )
    async with cluster.client() as client:
        path = object_path(kind, cluster.namespace or client.namespace, name)
        try:
            return await client.raw(path)
        except BusyError as error:
            raise QueryError(error.target, f"{error.problem}; does metricsapi run?") from error
        except NotFoundError as error:
            if error.reason and "could not find the requested resource" not in error.problem:
                raise
            problem = f"{error.problem}; is APIService v1beta1.{kind.group} of metricsapi there?"
            raise QueryError(error.target, problem) from error


def _page(content: bytes) -> bytes:
    import msgspec

    try:
        found = msgspec.json.decode(content, type=dict[str, object]).get("content")
        if not isinstance(found, str):
            raise InputError(PAGE, "the answer has no content")
        return b64decode(found, validate=True)
    except (msgspec.MsgspecError, UnicodeError, binascii.Error, ValueError) as error:
        raise InputError(PAGE, f"the answer is no page: {error}") from error
