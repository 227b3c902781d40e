"""JSON Schemas of tools, in the plain dialect that every client understands.

**Invariant**: no `$ref`, no `anyOf` with null, no generated titles; the root is an object.
"""

from __future__ import annotations

from typing import Any, cast

from pydantic import BaseModel

from sightline_server.envelope import ErrorModel, Metadata

Schema = dict[str, Any]


def input_schema(model: type[BaseModel]) -> Schema:
    """What a tool takes."""
    schema = plain_schema(model)
    schema.setdefault("properties", {})
    schema["additionalProperties"] = False
    return schema


def output_schema(model: type[BaseModel]) -> Schema:
    """What a tool returns: its own fields, or `error`; `metadata` always."""
    schema = plain_schema(model)
    schema["properties"] = {
        **schema.get("properties", {}),
        "error": plain_schema(ErrorModel),
        "metadata": plain_schema(Metadata),
    }
    # A failing tool has `error` in place of its fields, so only `metadata` is always there.
    schema["required"] = ["metadata"]
    return schema


def plain_schema(model: type[BaseModel]) -> Schema:
    """What a model looks like on the wire."""
    raw = model.model_json_schema(mode="serialization" if issubclass(model, (ErrorModel, Metadata)) else "validation")
    definitions = raw.pop("$defs", {})
    plain = cast("Schema", _inline(raw, definitions))
    plain.pop("description", None)
    return plain


def _inline(node: Any, definitions: dict[str, Any], inside: frozenset[str] = frozenset()) -> Any:
    if isinstance(node, list):
        return [_inline(item, definitions, inside) for item in cast("list[Any]", node)]
    if not isinstance(node, dict):
        return node
    table = _without_null(dict(cast("dict[str, Any]", node)))
    reference = table.pop("$ref", None)
    if reference is not None:
        name = str(reference).rsplit("/", 1)[-1]
        # A type that contains itself is spelled out once; below that it is any object.
        target = {"type": "object"} if name in inside else _inline(definitions[name], definitions, inside | {name})
        return {**cast("Schema", target), **cast("Schema", _inline(table, definitions, inside))}
    # A property may itself be called `title`: only the generated keyword (a string) goes.
    return {
        key: _inline(value, definitions, inside)
        for key, value in table.items()
        if not (key == "title" and isinstance(value, str)) and not (key == "default" and value is None)
    }


def _without_null(table: dict[str, Any]) -> dict[str, Any]:
    choices = table.get("anyOf")
    if not isinstance(choices, list):
        return table
    kept = [choice for choice in cast("list[Any]", choices) if choice != {"type": "null"}]
    if len(kept) == 1:
        rest = {key: value for key, value in table.items() if key != "anyOf"}
        return {**kept[0], **rest}
    return {**table, "anyOf": kept}
