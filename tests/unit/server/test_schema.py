"""Schemas are plain: no references, no null, no generated titles, and they accept what tools return."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import jsonschema
import pytest
from pydantic import BaseModel, Field

from sightline_core.errors import ErrorCode, SightlineError
from sightline_server.envelope import Metadata, WireModel, error_body, to_json
from sightline_server.schema import input_schema, output_schema
from sightline_server.tools.base import Args, Result
from sightline_server.tools.table import TOOLS


class Colour(StrEnum):
    """A choice."""

    RED = "red"
    BLUE = "blue"


class Inner(WireModel):
    """A nested value that has a field called like a keyword."""

    title: str
    description: str | None = None
    colour: Colour | None = None


class SampleArgs(Args):
    """Every shape that tools use."""

    query: Annotated[str, Field(min_length=1, description="What to look for.")]
    colour: Annotated[Colour, Field(description="A choice.")] = Colour.RED
    limit: Annotated[int | None, Field(ge=1, le=5)] = None
    either: str | int | None = None
    inner: Inner | None = None


class SampleResult(Result):
    """Nested twice."""

    items: list[Inner]
    by_name: dict[str, Inner] | None = None


def nodes(schema: Any) -> list[dict[str, Any]]:
    """Every object of a schema."""
    if isinstance(schema, list):
        return [node for item in schema for node in nodes(item)]
    if not isinstance(schema, dict):
        return []
    return [schema, *(node for value in schema.values() for node in nodes(value))]


SCHEMAS = {
    "sample input": input_schema(SampleArgs),
    "sample output": output_schema(SampleResult),
    **{f"{tool.name} input": input_schema(tool.args) for tool in TOOLS},
    **{f"{tool.name} output": output_schema(tool.result) for tool in TOOLS},
}


@pytest.mark.parametrize("schema", SCHEMAS.values(), ids=SCHEMAS.keys())
def test_a_schema_is_valid_and_plain(schema: dict[str, Any]) -> None:
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["type"] == "object"
    for node in nodes(schema):
        assert "$ref" not in node
        assert "$defs" not in node
        assert not isinstance(node.get("title"), str)
        assert {"type": "null"} not in node.get("anyOf", [])
        assert node.get("default", "") is not None


def test_a_field_may_be_called_like_a_keyword() -> None:
    items = SCHEMAS["sample output"]["properties"]["items"]["items"]
    assert items["properties"]["title"] == {"type": "string"}
    assert items["properties"]["description"] == {"type": "string"}


def test_choices_bounds_and_descriptions_survive() -> None:
    properties = SCHEMAS["sample input"]["properties"]
    assert properties["query"] == {"type": "string", "minLength": 1, "description": "What to look for."}
    assert properties["colour"]["enum"] == ["red", "blue"]
    assert properties["colour"]["default"] == "red"
    assert (properties["limit"]["minimum"], properties["limit"]["maximum"]) == (1, 5)
    assert properties["inner"]["properties"]["colour"]["enum"] == ["red", "blue"]
    assert SCHEMAS["sample input"]["required"] == ["query"]


@pytest.mark.parametrize(
    ("arguments", "valid"),
    [
        ({"query": "x"}, True),
        ({"query": "x", "either": 1}, True),
        ({"query": "x", "either": "a", "limit": 5}, True),
        ({}, False),
        ({"query": ""}, False),
        ({"query": "x", "limit": 6}, False),
        ({"query": "x", "unknown": 1}, False),
        ({"query": "x", "colour": "green"}, False),
    ],
)
def test_the_schema_and_the_validation_agree(arguments: dict[str, Any], valid: bool) -> None:
    assert jsonschema.Draft202012Validator(SCHEMAS["sample input"]).is_valid(arguments) is valid
    assert accepts(SampleArgs, arguments) is valid


def accepts(model: type[BaseModel], arguments: dict[str, Any]) -> bool:
    try:
        model.model_validate(arguments)
    except ValueError:
        return False
    return True


def test_both_an_answer_and_a_failure_fit_the_output_schema() -> None:
    validator = jsonschema.Draft202012Validator(SCHEMAS["sample output"])
    answer = to_json(SampleResult(items=[Inner(title="t")])) | {"metadata": to_json(Metadata())}
    failure = error_body(SightlineError(ErrorCode.OVERLOADED, "Busy.", data={"a": 1}), Metadata(workspace="/w"))
    assert validator.is_valid(answer)
    assert validator.is_valid(failure)
    assert not validator.is_valid({"items": []})
    assert not validator.is_valid({**answer, "items": "none"})
