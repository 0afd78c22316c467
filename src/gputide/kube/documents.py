"""Manifests: YAML or JSON of one or more documents, as objects to apply."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import yaml

from gputide.errors import InputError
from gputide.kube.model import JsonObject

MAX_BYTES = 10 * 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """One object, and where it was written."""

    place: str
    """File and number of the document."""

    api_version: str
    kind: str
    name: str
    namespace: str
    """"" where it names none."""

    obj: JsonObject


class _Loader(yaml.SafeLoader):
    """YAML as Kubernetes reads it: dates and times are texts, and no key stands twice."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:  # noqa: FBT001, FBT002  its signature
        """Return a mapping; a key that is given twice is a mistake."""
        seen: set[str] = set()
        for key, _ in node.value:
            if key.value in seen and isinstance(key.value, str) and key.value != "<<":
                mark = key.start_mark
                raise yaml.constructor.ConstructorError(
                    None, None, f"key {key.value!r} stands here a second time", mark
                )
            if isinstance(key.value, str):
                seen.add(key.value)
        return super().construct_mapping(node, deep=deep)


_Loader.yaml_implicit_resolvers = {
    first: [(tag, regexp) for tag, regexp in found if not tag.endswith((":timestamp", ":int"))]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# whole numbers without YAML 1.1's base 60, in which the time 9:30 is a number
_Loader.add_implicit_resolver(
    "tag:yaml.org,2002:int",
    re.compile(r"^[-+]?(?:0b[01_]+|0x[0-9a-fA-F_]+|0[0-7_]*|[1-9][0-9_]*)$"),
    list("-+0123456789"),
)


def read_documents(content: bytes, place: str) -> list[Document]:
    """Return the objects of a file in their order; lists are taken apart. Raises InputError."""
    if len(content) > MAX_BYTES:
        raise InputError(place, f"is larger than {MAX_BYTES} bytes")
    try:
        text = content.decode("utf-8-sig")
        loaded = list(yaml.load_all(text, Loader=_Loader))
    except yaml.YAMLError as error:
        raise InputError(place, f"is no YAML: {_words(error)}") from error
    except (UnicodeError, RecursionError, ValueError) as error:
        raise InputError(place, f"cannot be read: {error}") from error
    found: list[Document] = []
    for number, one in enumerate(loaded, start=1):
        if one is not None:
            found += _documents(one, f"{place}: document {number}")
    if not found:
        raise InputError(place, "holds no object")
    return found


def _documents(loaded: Any, place: str) -> Iterator[Document]:  # noqa: ANN401  any YAML
    if not isinstance(loaded, dict):
        raise InputError(place, f"is no object but {type(loaded).__name__}")
    kind, version = loaded.get("kind"), loaded.get("apiVersion")
    items = loaded.get("items")
    if isinstance(kind, str) and kind.endswith("List") and isinstance(items, list):
        for number, item in enumerate(items, start=1):
            yield from _documents(item, f"{place}, item {number}")
        return
    metadata = loaded.get("metadata")
    for field, value in (("apiVersion", version), ("kind", kind)):
        if not isinstance(value, str) or not value:
            raise InputError(place, f"names no {field}")
    if not isinstance(metadata, dict) or not isinstance(metadata.get("name"), str):
        raise InputError(place, "names no metadata.name")
    namespace = metadata.get("namespace") or ""
    if not isinstance(namespace, str):
        raise InputError(place, "metadata.namespace is no text")
    yield Document(
        place=place,
        api_version=str(version),
        kind=str(kind),
        name=metadata["name"],
        namespace=namespace,
        obj=loaded,
    )


def _words(error: yaml.YAMLError) -> str:
    if isinstance(error, yaml.MarkedYAMLError) and error.problem_mark is not None:
        return f"line {error.problem_mark.line + 1}: {error.problem or error.context}"
    return " ".join(str(error).split())
