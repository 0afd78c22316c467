"""Which form of an answer a client takes: media types with parameters, never compared as text."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum

from gputide.kubeapi.errors import StatusError

MAX_ACCEPT_CHARACTERS = 4096
JSON_TYPE = "application/json"
_JSON_LIKE = ("application/json", "application/*", "*/*")


class Form(StrEnum):
    """The forms that an object or list has."""

    PLAIN = ""
    TABLE = "Table"
    PARTIAL = "PartialObjectMetadata"
    PARTIAL_LIST = "PartialObjectMetadataList"
    DISCOVERY = "APIGroupDiscoveryList"


@dataclass(frozen=True, slots=True, kw_only=True)
class MediaType:
    """One entry of an Accept header."""

    type: str
    parameters: Mapping[str, str] = field(default_factory=dict)
    quality: float = 1.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Accepted:
    """What to answer with, and under which content type."""

    form: Form = Form.PLAIN
    version: str = ""
    """Of the form: `v1` or `v1beta1` of a Table, `v2` or `v2beta1` of discovery."""

    content_type: str = JSON_TYPE


def media_types(accept: str) -> list[MediaType]:
    """Return the entries of an Accept header, the best first; equals keep their order.

    >>> [one.type for one in media_types("text/html;q=0.5, application/json;as=Table")]
    ['application/json', 'text/html']
    """
    found = list(_entries(accept[:MAX_ACCEPT_CHARACTERS]))
    return sorted(found, key=lambda one: -one.quality)


def negotiated(accept: str, forms: Mapping[Form, Sequence[str]]) -> Accepted:
    """Return the first entry that can be served; raise 406 where there is none.

    `forms`: the forms on offer beside the plain one, each with the versions that are known.
    """
    entries = media_types(accept) or [MediaType(type="*/*")]
    for entry in entries:
        if entry.type not in _JSON_LIKE or entry.quality <= 0:
            continue
        wanted = entry.parameters.get("as", "")
        version = entry.parameters.get("v", "")
        if not wanted:
            return Accepted()
        offered = next((form for form in forms if form and form.value == wanted), None)
        if offered is not None and version in forms[offered]:
            return _accepted(offered, entry)
    raise StatusError(
        406,
        "NotAcceptable",
        "only the following media types are accepted: application/json, "
        "application/json;as=Table;v=v1;g=meta.k8s.io",
    )


TABLES: Mapping[Form, Sequence[str]] = {
    Form.TABLE: ("v1", "v1beta1"),
    Form.PARTIAL: ("v1", "v1beta1"),
    Form.PARTIAL_LIST: ("v1", "v1beta1"),
}
"""What an object or list may be asked as."""

DISCOVERY: Mapping[Form, Sequence[str]] = {Form.DISCOVERY: ("v2", "v2beta1")}
"""What /api and /apis may be asked as."""


def _accepted(form: Form, entry: MediaType) -> Accepted:
    version = entry.parameters["v"]
    content_type = JSON_TYPE
    if form is Form.DISCOVERY:  # clients look at the content type to tell the forms apart
        content_type = f"{JSON_TYPE};g=apidiscovery.k8s.io;v={version};as={form.value}"
    return Accepted(form=form, version=version, content_type=content_type)


def _entries(accept: str) -> Iterator[MediaType]:
    for part in accept.split(","):
        name, *pairs = (piece.strip() for piece in part.split(";"))
        if not name:
            continue
        parameters = {}
        for pair in pairs:
            key, _, value = pair.partition("=")
            parameters[key.strip().lower()] = value.strip().strip('"')
        quality = _quality(parameters.pop("q", "1"))
        yield MediaType(type=name.lower(), parameters=parameters, quality=quality)


def _quality(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value <= 1 else 0.0
