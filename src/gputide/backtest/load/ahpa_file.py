"""An AdvancedHorizontalPodAutoscaler in a YAML file; errors name file, line and field."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import yaml

from gputide.errors import InputError, SettingError
from gputide.scaling.resource import KIND, TEMPLATE_KIND, Autoscaler, read_autoscaler

MAX_FILE_BYTES = 1 << 20
DEFAULT_TIME_ZONE = "UTC"


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class AhpaFile:
    """What the file asks for, and what had to be assumed."""

    autoscaler: Autoscaler
    warnings: tuple[str, ...]
    path: Path
    tree: yaml.Node
    """The resource as it was written, which knows its lines."""

    def problem(self, error: SettingError) -> InputError:
        """Return an error about a field as one about the file and line that hold it."""
        return _at_line(self.path, self.tree, error)


class _Loader(yaml.SafeLoader):
    """YAML's plain values; a key that is written twice is a mistake, not the last one."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[object, object]:  # noqa: FBT001, FBT002 PyYAML's own signature
        seen = set[str]()
        for key, _ in node.value:
            if key.value in seen and isinstance(key, yaml.ScalarNode):
                raise yaml.MarkedYAMLError(
                    problem=f"{key.value!r} is written twice", problem_mark=key.start_mark
                )
            seen.add(str(key.value))
        return super().construct_mapping(node, deep)


def read_ahpa_file(path: Path, *, time_zone: str | None = None) -> AhpaFile:
    """Return the one AHPA resource of a file, picked by its kind from all of its documents.

    Times without a zone are read in the resource's `timeZone`, else in `time_zone`, else in UTC.
    Raises InputError, one line that names the file, the line and the field.
    """
    node, source = _find(path, list(_documents(path)))
    try:
        autoscaler = read_autoscaler(source, default_time_zone=time_zone or DEFAULT_TIME_ZONE)
    except SettingError as error:
        raise _at_line(path, node, error) from error
    spec = source.get("spec")
    is_zone_named = time_zone is not None or (isinstance(spec, dict) and "timeZone" in spec)
    warning = (
        f"{path} names no timeZone: its windows, and the days and weeks of the load, are read in"
        f" {DEFAULT_TIME_ZONE} (--time-zone names another)"
    )
    return AhpaFile(
        autoscaler=autoscaler,
        warnings=() if is_zone_named else (warning,),
        path=path,
        tree=node,
    )


def _documents(path: Path) -> Iterator[tuple[yaml.Node, object]]:
    """Yield each document as the tree that knows its lines, and as values."""
    text = _text(path)
    try:
        loader = _Loader(text)
        while loader.check_node():
            node = cast("yaml.Node", loader.get_node())  # there is one: check_node said so
            yield node, loader.construct_document(node)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        place = f"{path}:{mark.line + 1}" if mark else str(path)
        raise InputError(place, f"no YAML: {error.problem or error.context}") from error
    except (yaml.YAMLError, ValueError) as error:  # ValueError: 2026-13-45 as a date
        raise InputError(str(path), f"no YAML: {str(error).splitlines()[0]}") from error
    except RecursionError as error:
        raise InputError(str(path), "no YAML for people: nested too deeply") from error


def _text(path: Path) -> str:
    try:
        with path.open("rb") as file:
            raw = file.read(MAX_FILE_BYTES + 1)
        if len(raw) > MAX_FILE_BYTES:
            raise InputError(str(path), "is larger than 1 MiB: no resource is")
        return raw.decode()
    except UnicodeDecodeError as error:
        raise InputError(str(path), f"no UTF-8 text (byte {error.start + 1})") from error
    except (OSError, ValueError) as error:
        problem = error.strerror if isinstance(error, OSError) else None
        raise InputError(str(path), (problem or str(error)).lower()) from error


def _find(
    path: Path, documents: list[tuple[yaml.Node, object]]
) -> tuple[yaml.Node, dict[str, object]]:
    kinds = [_kind(source) for _, source in documents]
    found = [at for at, kind in enumerate(kinds) if kind in {KIND, TEMPLATE_KIND}]
    if len(found) == 1:
        node, source = documents[found[0]]
        if isinstance(source, dict):
            return node, source
    if found:
        raise InputError(str(path), f"holds {len(found)} of kind {KIND}: give a file with one")
    there = ", ".join(kind for kind in kinds if kind) or "nothing with a kind"
    raise InputError(str(path), f"holds no {KIND}; it has {there}")


def _kind(source: object) -> str:
    kind = source.get("kind", "") if isinstance(source, dict) else ""
    return kind if isinstance(kind, str) else ""


def _at_line(path: Path, tree: yaml.Node, error: SettingError) -> InputError:
    place = f"{path}:{_line_of(tree, error.setting)}"
    return InputError(place, f"{error.setting}: {error.problem}")


def _line_of(node: yaml.Node, field: str) -> int:
    """Return the line of a field such as `spec.metrics[0].type`, or of what would hold it."""
    for name, index in re.findall(r"([^.\[\]]+)|\[(\d+)\]", field):
        inner = _member(node, name) if name else _item(node, int(index))
        if inner is None:
            break
        node = inner
    return int(node.start_mark.line) + 1


def _member(node: yaml.Node, name: str) -> yaml.Node | None:
    if not isinstance(node, yaml.MappingNode):
        return None
    return next((value for key, value in node.value if key.value == name), None)


def _item(node: yaml.Node, index: int) -> yaml.Node | None:
    if not isinstance(node, yaml.SequenceNode) or index >= len(node.value):
        return None
    item: yaml.Node = node.value[index]
    return item
