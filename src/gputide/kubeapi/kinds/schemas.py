"""Short words for the OpenAPI schemas of the built-in kinds; open wherever nothing is said."""

from gputide.kubeapi.model import JsonObject

STRING: JsonObject = {"type": "string"}
BOOLEAN: JsonObject = {"type": "boolean"}
INTEGER: JsonObject = {"type": "integer"}
COUNT: JsonObject = {"type": "integer", "format": "int32", "minimum": 0}
TIME: JsonObject = {"type": "string", "format": "date-time"}
INT_OR_STRING: JsonObject = {"x-kubernetes-int-or-string": True}
OPEN: JsonObject = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
STRINGS: JsonObject = {"type": "object", "additionalProperties": {"type": "string"}}


def items(schema: JsonObject) -> JsonObject:
    """Return the schema of a list."""
    return {"type": "array", "items": schema}


def closed(*required: str, **properties: JsonObject) -> JsonObject:
    """Return the schema of an object that has these properties and no others."""
    schema: JsonObject = {"type": "object", "properties": properties}
    return schema | ({"required": list(required)} if required else {})


def described(description: str, *required: str, **properties: JsonObject) -> JsonObject:
    """Return the schema of a whole kind: its own properties beside those of every object."""
    every = {"apiVersion": STRING, "kind": STRING, "metadata": OPEN}
    return closed(*required, **every, **properties) | {"description": description}
